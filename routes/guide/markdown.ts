import { Marked, type RendererObject, type Token, type Tokens } from "marked";

/** A page of `docs/` as HTML. */
export interface Rendered {
  title: string;
  html: string;
  /** Its sections, for a table of contents. */
  sections: { name: string; slug: string }[];
}

/** Where a link of a page leads when it is served; `undefined` where nothing is served there. */
export type Resolve = (href: string) => string | undefined;

/**
 * Renders a page. The pages are our own, but nothing in them becomes HTML that Markdown does
 * not make: comments are dropped, other tags are shown as they are written.
 */
export function render(text: string, resolve: Resolve): Rendered {
  const names = new Map<string, number>();
  const sections: Rendered["sections"] = [];
  let title = "";
  const marked = new Marked({
    gfm: true,
    renderer: {
      ...renderer,
      heading(token) {
        const { depth, tokens } = token;
        const slug = unique(slugOf(token.text), names);
        const name = plain(tokens);
        if (depth === 1) title = name;
        if (depth === 2) sections.push({ name, slug });
        return `<h${depth} id="${slug}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const url = resolve(href);
        return url === undefined
          ? inSources(href, content)
          : `<a href="${escape(url)}">${content}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escape(resolve(href) ?? href)}" alt="${escape(text)}" loading="lazy">`;
      },
    },
  });
  return { html: marked.parse(text, { async: false }), title, sections };
}

/** A link to a file that is not served: where it is to be found instead. */
function inSources(href: string, content: string): string {
  const path = escape(href.replace(/^(?:\.\.\/)+/, ""));
  const place = `<code>${path}</code> in the sources`;
  return path === content || path.endsWith(`/${content}`) ? place : `${content} (${place})`;
}

const renderer: RendererObject = {
  html: ({ text }) => escape(text.replace(/<!--[\s\S]*?-->/g, "").trim()),
  code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`,
  table(token) {
    const cells = (row: Tokens.TableCell[], kind: string) =>
      row.map(({ tokens, text, align }) => {
        const side = align === null || align === "left" ? "" : ` class="${align}"`;
        const tag = text === "" ? "td" : kind;
        return `<${tag}${side}>${this.parser.parseInline(tokens)}</${tag}>`;
      }).join("");
    const head = token.header.some(({ text }) => text !== "")
      ? `<thead><tr>${cells(token.header, "th")}</tr></thead>`
      : "";
    const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
    return `<div class="scroll" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
  },
};

/** The name that GitHub gives a heading, so that links into a page work in both places. */
export const slugOf = (heading: string): string =>
  heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-");

function unique(slug: string, names: Map<string, number>): string {
  const before = names.get(slug) ?? 0;
  names.set(slug, before + 1);
  return before === 0 ? slug : `${slug}-${before}`;
}

/** Inline text without its marks. */
export const plain = (tokens: Token[]): string =>
  tokens.map((token) =>
    "tokens" in token && token.tokens !== undefined
      ? plain(token.tokens)
      : "text" in token
      ? token.text
      : token.raw
  ).join("");

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
