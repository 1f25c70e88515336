import { verify } from "@octokit/webhooks-methods";

/** A port that nobody listens on yet: the backend of somebody who is just deploying. */
export function reservePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/**
 * The backend once it is up: checks each delivery with GitHub's own library over the bytes
 * it got, and tells which ones passed.
 */
export function startBackend(
  port: number,
  secret: string,
  onDelivery: (guid: string, verified: boolean) => void,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const body = await request.text();
    const signature = request.headers.get("x-hub-signature-256") ?? "";
    const verified = await verify(secret, body, signature);
    onDelivery(request.headers.get("x-github-delivery") ?? "", verified);
    return new Response(null, { status: verified ? 204 : 401 });
  });
}
