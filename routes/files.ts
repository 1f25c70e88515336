import { createHash } from "node:crypto";
import { problem } from "../lib/errors.ts";
import { problemResponse } from "./problem.ts";

const ROOT = new URL("../", import.meta.url);

/** A file that comes with the program, as it is served. */
export interface OwnFile {
  /** From the root of the sources. */
  path: string;
  type: string;
}

/** Answers with a file of the program: asked again each time, sent only when it has changed. */
export async function serveFile(file: OwnFile | undefined, request: Request): Promise<Response> {
  const bytes = file && await readOwn(file.path);
  if (bytes === undefined) {
    return problemResponse(problem("not_found", "cannot find the file: no such name"));
  }
  return fresh(bytes, file!.type, request);
}

/** Answers with `content`, or 304 where the one who asks has it. */
export function fresh(
  content: string | Uint8Array<ArrayBuffer>,
  type: string,
  request: Request,
): Response {
  const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
  const headers = { "content-type": type, "cache-control": "no-cache", etag };
  const known = request.headers.get("if-none-match")?.replace(/^W\//, "") === etag;
  return known ? new Response(null, { status: 304, headers }) : new Response(content, { headers });
}

/** Reads a file that comes with the program; `undefined` where it is missing. */
export async function readOwn(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(new URL(path, ROOT));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether a file comes with the program, as what is built may not. */
export function hasOwn(path: string): boolean {
  try {
    return Deno.statSync(new URL(path, ROOT)).isFile;
  } catch {
    return false;
  }
}
