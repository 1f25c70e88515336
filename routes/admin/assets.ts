import { Hono } from "hono";
import { hasOwn, type OwnFile, serveFile } from "../files.ts";

/** All files the page asks for; nothing else is served. */
const FILES: Record<string, OwnFile> = {
  "admin.js": { path: "dist/admin.js", type: "text/javascript; charset=utf-8" },
  "admin.css": { path: "static/admin.css", type: "text/css; charset=utf-8" },
  "icon.svg": { path: "static/icon.svg", type: "image/svg+xml" },
};

/** Whether the islands are bundled. Without them the pages work, but are not live. */
export const hasIslands = (): boolean => hasOwn(FILES["admin.js"].path);

/** `GET /admin/static/…` */
export function assetRoutes(): Hono {
  const app = new Hono();
  app.get("/:name", ({ req }) => serveFile(FILES[req.param("name")], req.raw));
  return app;
}
