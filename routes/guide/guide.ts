import { type Context, Hono, type MiddlewareHandler } from "hono";
import { fresh, type OwnFile, serveFile } from "../files.ts";
import { answerNotFound } from "../not_found.ts";
import { passOn, problemResponse } from "../problem.ts";
import { problem } from "../../lib/errors.ts";
import { chaptersOf, GUIDE, INDEX, pagePath, readPage, servedAt } from "./contents.ts";
import { guidePage } from "./frame.tsx";
import { render } from "./markdown.ts";

const FILES: Record<string, OwnFile> = {
  "admin.css": { path: "static/admin.css", type: "text/css; charset=utf-8" },
  "guide.css": { path: "static/guide.css", type: "text/css; charset=utf-8" },
  "icon.svg": { path: "static/icon.svg", type: "image/svg+xml" },
};

/**
 * The pages of `docs/`, for everybody: nothing in them is of this relay. Loaded by the first
 * request for one.
 */
export function createGuide(hasOperators: boolean): Hono {
  const app = new Hono();
  const made = new Map<string, { source: string; html: string }>();
  app.onError(passOn);
  answerNotFound(app);
  app.use("*", guideHeaders);

  /** Rendering costs more than reading: what was rendered stays while its text is the same. */
  async function answer({ req }: Context, name: string): Promise<Response> {
    const [text, index] = await Promise.all([readPage(name), readPage(INDEX)]);
    if (text === undefined || index === undefined) {
      return problemResponse(problem("not_found", "cannot find the page: no such name"));
    }
    const source = index + text;
    let page = made.get(name);
    if (page?.source !== source) {
      const shown = { page: render(text, servedAt), chapters: chaptersOf(index), hasOperators };
      page = { source, html: guidePage({ ...shown, path: pagePath(name) }) };
      made.set(name, page);
    }
    return fresh(page.html, "text/html; charset=utf-8", req.raw);
  }

  app.get(GUIDE, (context) => answer(context, INDEX));
  app.get(`${GUIDE}/`, (context) => context.redirect(GUIDE, 308));
  app.get(`${GUIDE}/:page`, (context) => answer(context, context.req.param("page")));
  app.get(`${GUIDE}/static/:name`, ({ req }) => serveFile(FILES[req.param("name")], req.raw));
  app.get(`${GUIDE}/images/:name`, ({ req }) => {
    const path = `docs/images/${req.param("name")}`;
    const isImage = /^docs\/images\/[a-z-]{1,64}\.png$/.test(path);
    return serveFile(isImage ? { path, type: "image/png" } : undefined, req.raw);
  });
  return app;
}

/** Nothing but our own styles and images loads, no script runs, nobody frames us. */
const guideHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  headers.set(
    "content-security-policy",
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
      "frame-ancestors 'none'",
  );
  headers.set("x-content-type-options", "nosniff");
  headers.set("x-frame-options", "DENY");
  headers.set("referrer-policy", "no-referrer");
  headers.set("cross-origin-opener-policy", "same-origin");
};
