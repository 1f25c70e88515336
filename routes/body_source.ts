import type { BodySource } from "../lib/flow/read_body.ts";

/** A request's body as it is read: with its announced length, whole or piece by piece. */
export function bodySource(request: Request): BodySource {
  const length = request.headers.get("content-length");
  return {
    declaredBytes: length === null ? undefined : Number(length),
    stream: request.body,
    whole: async () => new Uint8Array(await request.arrayBuffer()),
  };
}
