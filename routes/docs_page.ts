import { html } from "hono/html";
import type { OpenAPIHono } from "@hono/zod-openapi";

type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** The parts of a schema that the page shows. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  description?: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Body {
  description?: string;
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Body>;
}

interface Route {
  method: string;
  path: string;
  operation: Operation;
}

/** Renders the API's document as one page that asks nothing of anybody else. */
export function docsPage(document: Document, nonce: string) {
  const groups = Map.groupBy(routesOf(document), ({ operation }) => operation.tags?.[0] ?? "Other");
  const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${document.info.title} API</title>
        <style nonce="${nonce}">${STYLE}</style>
      </head>
      <body>
        <header>
          <h1>${document.info.title} API <small>${document.info.version}</small></h1>
          <p>${document.info.description}</p>
          <p>Send <code>Authorization: Bearer ADMIN_TOKEN</code>. Times are ISO 8601 in UTC. Refusals are
    <a href="#Problem">problem documents</a>. For programs: <a href="/openapi.json">openapi.json</a>.
    In words: <a href="/docs/guide">the guide</a>.</p>
          <nav>${[...groups.keys()].map((name) =>
            html`
              <a href="#${slug(name)}">${name}</a>
            `
          )}
    <a href="#schemas">Schemas</a></nav>
        </header>
        <main>
    ${[...groups].map(([name, routes]) =>
      html`
        <section id="${slug(name)}"><h2>${name}</h2>${routes.map(routeBlock)}</section>
      `
    )}
    <section id="schemas"><h2>Schemas</h2>${schemas.map(schemaBlock)}</section>
        </main>
      </body>
    </html>
  `;
}

function routesOf({ paths = {} }: Document): Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    }))
  );
}

const slug = (name: string) => name.toLowerCase().replaceAll(/[^a-z]+/g, "-");

function routeBlock({ method, path, operation }: Route) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  return html`
    <article>
    <h3><b class="${method.toLowerCase()}">${method}</b> <code>${path}</code></h3>
    <p>${summary}${description === undefined ? "" : html`<br><small>${description}</small>`}</p>
    ${parameters.length === 0
      ? ""
      : html`<table><caption>Parameters</caption>${
        parameters.map((one) => row(one.name, one.schema, one.required, one.description, one.in))
      }</table>`}
    ${requestBody === undefined ? "" : html`<p>Body: ${contentOf(requestBody)}</p>`}
    <ul>${Object.entries(responses).map(([status, body]) =>
      html`
        <li><code>${status}</code> ${body.description} ${contentOf(body)}</li>
      `
    )}</ul>
    </article>
  `;
}

function contentOf({ content = {} }: Body) {
  return Object.entries(content).map(([type, { schema }]) =>
    html`<small>${type}</small> ${typeOf(schema)}`
  );
}

function schemaBlock([name, schema]: [string, Schema]) {
  const fields = Object.entries(schema.properties ?? {});
  return html`
    <article id="${name}">
      <h3>${name}</h3>
      <p>${schema.description ?? ""}</p>
      <table>${fields.map(([field, type]) =>
        row(field, type, schema.required?.includes(field), type.description)
      )}</table>
    </article>
  `;
}

function row(name: string, schema: Schema | undefined, required = false, text = "", place = "") {
  return html`
    <tr>
      <td><code>${name}</code>${required ? "" : html`
        <small>optional</small>
      `}</td>
      <td>${typeOf(schema)}${place === "" ? "" : html`
        <small>in ${place}</small>
      `}</td>
      <td>${text}</td>
    </tr>
  `;
}

/** A schema's type in a few words, with a link where it has a name. */
function typeOf(schema: Schema = {}): ReturnType<typeof html> | string {
  const { $ref, type, format, items, properties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return html`${choices.map((one, index) => html`${index === 0 ? "" : " | "}${typeOf(one)}`)}`;
  }
  if (items !== undefined) return html`list of ${typeOf(items)}`;
  if (properties !== undefined) {
    const fields = Object.entries(properties);
    return html`{ ${
      fields.map(([name, one], index) => html`${index === 0 ? "" : ", "}${name}: ${typeOf(one)}`)
    } }`;
  }
  return [type].flat().join(" | ") + (format === undefined ? "" : ` (${format})`);
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #0b6e4f; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 small { font-weight: normal; opacity: .6; font-size: .5em; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
b { display: inline-block; min-width: 3.2rem; color: var(--accent); }
b.post { color: #a04000; }
code { font: .9em ui-monospace, monospace; }
small { opacity: .75; }
nav a { margin-right: .75rem; }
a { color: inherit; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; }
td { border-top: 1px solid var(--line); padding: .25rem .75rem .25rem 0; vertical-align: top; }
ul { margin: .25rem 0; padding-left: 1.2rem; }
`;
