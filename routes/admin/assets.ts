import { createHash } from "node:crypto";
import { Hono } from "hono";
import { problem } from "../../lib/errors.ts";
import { problemResponse } from "../problem.ts";

const ROOT = new URL("../../", import.meta.url);

/** All files the page asks for; nothing else is served. */
const FILES: Record<string, { path: string; type: string }> = {
  "admin.js": { path: "dist/admin.js", type: "text/javascript; charset=utf-8" },
  "admin.css": { path: "static/admin.css", type: "text/css; charset=utf-8" },
  "icon.svg": { path: "static/icon.svg", type: "image/svg+xml" },
};

/** Whether the islands are bundled. Without them the pages work, but are not live. */
export function hasIslands(): boolean {
  try {
    return Deno.statSync(new URL(FILES["admin.js"].path, ROOT)).isFile;
  } catch {
    return false;
  }
}

/** `GET /admin/static/…`: asked again each time, sent only when it has changed. */
export function assetRoutes(): Hono {
  const app = new Hono();
  app.get("/:name", async ({ req }) => {
    const file = FILES[req.param("name")];
    const bytes = file && await read(file.path);
    if (bytes === undefined) {
      return problemResponse(problem("not_found", "cannot find the file: no such name"));
    }
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const headers = { "content-type": file.type, "cache-control": "no-cache", etag };
    const known = req.header("if-none-match")?.replace(/^W\//, "") === etag;
    return known ? new Response(null, { status: 304, headers }) : new Response(bytes, { headers });
  });
  return app;
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(new URL(path, ROOT));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
