import { OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "../lib/version.ts";
import { docsPage } from "./docs_page.ts";

const SECURITY = "bearer";

/** `GET /openapi.json` and `/docs`: all routes that `api` has when it is first asked. */
export function openapiRoutes(api: OpenAPIHono): OpenAPIHono {
  const app = new OpenAPIHono();
  let known: ReturnType<typeof documentOf> | undefined;
  const document = () => known ??= documentOf(api);
  app.get("/openapi.json", (context) => context.json(document()));
  app.get("/docs", (context) => {
    const nonce = crypto.randomUUID();
    return context.html(docsPage(document(), nonce), 200, {
      "content-security-policy":
        `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
  });
  return app;
}

/** The OpenAPI 3.1 document, made from the schemas that check the requests. */
function documentOf(api: OpenAPIHono) {
  api.openAPIRegistry.registerComponent("securitySchemes", SECURITY, {
    type: "http",
    scheme: "bearer",
    description: "The value of ADMIN_TOKEN",
  });
  return api.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: VERSION,
      description: "A webhook relay that accepts fast and delivers stubbornly.",
      license: { name: "MIT" },
    },
    security: [{ [SECURITY]: [] }],
    servers: [{ url: "/" }],
  });
}
