import { type Env } from "../config.ts";

/** Where `deno task dev` keeps what a restart should find again. */
export const DEV_DIR = ".data";

export interface DevTarget {
  url: string;
}

/**
 * What `deno task dev` adds to the environment so that it runs with nothing configured: a
 * store in a file, an admin token, and a demo endpoint with a target of its own.
 */
export function devSettings(
  env: Env,
  adminToken: string,
  endpointsGiven: boolean,
  target: DevTarget,
): Env {
  const added: Record<string, string> = {
    ADMIN_TOKEN: env.ADMIN_TOKEN || adminToken,
    KV_PATH: env.KV_PATH || `${DEV_DIR}/holdfast.db`,
  };
  if (!endpointsGiven) {
    added.ENDPOINTS = JSON.stringify([{ id: "demo", targetUrl: target.url, showPayload: true }]);
    added.ALLOW_PRIVATE_TARGETS = env.ALLOW_PRIVATE_TARGETS || "127.0.0.1";
  }
  return { ...env, ...added };
}

/** What a developer sees first: where it runs, what to try, how to get in. */
export function devGreeting(origin: string, endpoint: string, adminToken: string): string {
  return `
  Holdfast listens on ${origin}

  Try it:       curl -i ${origin}/hook/${endpoint} -H 'content-type: application/json' -d '{"hello":"holdfast"}'
  Look at it:   ${origin}/admin
  Or:           curl -s ${origin}/api/v1/deliveries -H 'authorization: Bearer ${adminToken}'
  Admin token:  ${adminToken}
`;
}

/** Serves the demo endpoint's target: says yes to everything and shows what came. */
export function serveDevTarget(show: (line: string) => void): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const bytes = (await request.arrayBuffer()).byteLength;
    const attempt = request.headers.get("holdfast-attempt");
    show(`demo target: got ${request.method} with ${bytes} bytes, attempt ${attempt}`);
    return new Response(null, { status: 204 });
  });
}
