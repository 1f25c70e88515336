/**
 * Makes the store of a release for `tests/store/earlier_releases_test.ts`. To be run from the
 * release's own sources, once, before the format changes:
 *
 *   npx deno@2.5.6 run -A tests/data/stores/make.ts tests/data/stores/0.1
 *
 * On the oldest Deno, since it cannot read values that a newer one wrote. It writes
 * `<name>.db.gz`, the KV file as a killed process leaves it, and `<name>.json`, what the
 * operator saw in it.
 */
import { DatabaseSync } from "node:sqlite";
import { signedIn } from "../../admin/jar.ts";
import { endpoint } from "../../helpers/endpoints.ts";
import { allDeliveries, type DeliveryView, reached, read } from "../../helpers/operator.ts";
import { accept, type PostOptions } from "../../helpers/post.ts";
import { type EndpointSettings, type Relay, startRelay } from "../../helpers/program.ts";
import { startSink } from "../../helpers/sink.ts";
import { until } from "../../helpers/wait.ts";

/** Nothing in it ends by itself, so that it can be opened at any time. */
const FOREVER = { dedupWindow: "36500d", retention: "36500d" };
const ODD_HEADERS = {
  "content-type": "application/octet-stream",
  "x-two-lines": ["first", "second"],
  "x-latin1": "caf\xe9",
};
/** More than one commit takes, no two rows of it alike, and easy to compress. */
const LARGE = Array.from({ length: 80_000 }, (_, line) => `page ${line >> 7}\n`).join("");
const MEDIUM = LARGE.slice(0, 150_000);
const DOWN = "http://127.0.0.1:9/";

function endpoints(taker: string, refuser: string): EndpointSettings[] {
  const waits = { ...FOREVER, retry: { schedule: ["10s", "10s"] } };
  return [
    endpoint("taken", taker, FOREVER),
    endpoint("refused", refuser, FOREVER),
    endpoint("waiting", DOWN, waits),
    endpoint("ordered", DOWN, { ...waits, ordered: true }),
    endpoint("paused", taker, FOREVER),
    endpoint("replayed", refuser, { ...FOREVER, concurrency: 1 }),
  ];
}

async function fill(relay: Relay): Promise<void> {
  await relay.api("/endpoints/paused/pause", { method: "POST" }).then((answer) => answer.text());
  const posts: [string, string, PostOptions][] = [
    ["taken", "delivered", { body: '{"n":1}', rest: "/below/here?a=1&b=%20" }],
    ["taken", "delivered", { body: Uint8Array.from({ length: 256 }, (_, n) => n), method: "PUT" }],
    ["taken", "delivered", { body: LARGE }],
    ["refused", "dead", { body: '{"n":2}', headers: ODD_HEADERS }],
    ["refused", "dead", { body: MEDIUM }],
    ...Array.from({ length: 4 }, (): [string, string, PostOptions] => ["replayed", "dead", {}]),
    ["paused", "pending", { body: "while it is paused" }],
    ["paused", "pending", { body: MEDIUM }],
    ["waiting", "pending", { body: LARGE }],
    ["waiting", "pending", { body: "", headers: ODD_HEADERS }],
    ...["one", "two", "three"].map((body): [string, string, PostOptions] => {
      return ["ordered", "pending", { body }];
    }),
  ];
  for (const [index, [id, state, options]] of posts.entries()) {
    const headers = { "x-event-id": `event-${index}`, ...options.headers };
    const { deliveryId } = await accept(relay, id, { ...options, headers });
    await reached(relay, deliveryId, state as DeliveryView["state"]);
  }
}

/** A replay job that has replayed something and has more to do. */
async function beginReplays(relay: Relay): Promise<string> {
  const body = JSON.stringify({ endpoint: "replayed" });
  const { id } = await read<{ id: string }>(relay, "/replays", { method: "POST", body });
  await until(async () => {
    const { state, done } = await read<{ state: string; done: number }>(relay, `/replays/${id}`);
    return state === "running" && done > 0;
  }, { what: "the job to have begun" });
  return id;
}

async function compress(path: string): Promise<Uint8Array> {
  const source = new Blob([Deno.readFileSync(path)]).stream();
  return await new Response(source.pipeThrough(new CompressionStream("gzip"))).bytes();
}

const [name] = Deno.args;
const folder = Deno.makeTempDirSync();
const kvPath = `${folder}/relay.db`;
let answer = 400;
await using taker = startSink();
await using refuser = startSink(() => ({ status: answer }));
await using relay = await startRelay({ kvPath, endpoints: endpoints(taker.url(), refuser.url()) });
await fill(relay);
const { cookies } = await signedIn(relay);
const cookie = Array.from(cookies, ([key, value]) => `${key}=${value}`).join("; ");
answer = 200;
// One attempt in half a minute: the job cannot end before the process does.
const slow = endpoints(taker.url(), refuser.url()).map((one) =>
  one.id === "replayed" ? { ...one, rateLimit: 0.03 } : one
);
await relay.restart({ endpoints: slow });
const job = await beginReplays(relay);
const deliveries = await allDeliveries(relay, "");
await relay.kill("SIGKILL");

const compact = `${folder}/compact.db`;
const database = new DatabaseSync(kvPath);
database.exec(`VACUUM INTO '${compact}'`);
database.close();
Deno.writeFileSync(`${name}.db.gz`, await compress(compact));
Deno.writeTextFileSync(
  `${name}.json`,
  `${JSON.stringify({ job, cookie, deliveries }, null, 2)}\n`,
);
Deno.removeSync(folder, { recursive: true });
