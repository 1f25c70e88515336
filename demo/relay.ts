import { linesOf } from "./lines.ts";

/** The real program, as a child process on a throw-away store. */
export interface DemoRelay {
  origin: string;
  adminToken: string;
  stop(): Promise<void>;
}

const FLAGS = [
  "--no-prompt",
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys",
];

/** Starts the relay with one GitHub endpoint whose target is `targetUrl`. */
export async function startRelay(targetUrl: string, secret: string): Promise<DemoRelay> {
  const folder = await Deno.makeTempDir({ prefix: "holdfast-demo-" });
  const adminToken = crypto.randomUUID();
  const endpoint = {
    id: "github",
    provider: "github",
    secret,
    targetUrl,
    retry: { first: "500ms", attempts: 10 },
  };
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, "main.ts"],
    cwd: new URL("../", import.meta.url),
    env: {
      HOST: "127.0.0.1",
      PORT: "0",
      KV_PATH: `${folder}/demo.db`,
      ADMIN_TOKEN: adminToken,
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      ENDPOINTS: JSON.stringify([endpoint]),
    },
    stdout: "piped",
  }).spawn();
  const port = await listeningPort(child.stdout);
  return {
    origin: `http://127.0.0.1:${port}`,
    adminToken,
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Waits for the program's own word that it listens; reads its log to the end meanwhile. */
async function listeningPort(output: ReadableStream<Uint8Array>): Promise<number> {
  const found = Promise.withResolvers<number>();
  const read = async () => {
    for await (const line of linesOf(output)) {
      const entry = JSON.parse(line) as { event: string; port: number };
      if (entry.event === "listening") found.resolve(entry.port);
    }
    found.reject(new Error("cannot start the relay: it ended before it listened"));
  };
  read().catch(found.reject);
  return await found.promise;
}
