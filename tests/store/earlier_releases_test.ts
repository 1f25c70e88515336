import assert from "node:assert/strict";
import { cli } from "../cli/cli.ts";
import { attemptsOf } from "../helpers/arrivals.ts";
import { sha256 } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { type Behaviour, group } from "../helpers/group.ts";
import { allDeliveries, type DeliveryView, reached, read, replay } from "../helpers/operator.ts";
import { accept, post } from "../helpers/post.ts";
import { type EndpointSettings, type Relay, startRelay } from "../helpers/program.ts";
import { type Sink, startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";

const FOLDER = new URL("../data/stores/", import.meta.url);
const RELEASES = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
  .filter((name) => name.endsWith(".db.gz")).map((name) => name.slice(0, -".db.gz".length));

/** What `make.ts` there noted of a store. */
interface Noted {
  job: string;
  cookie: string;
  deliveries: DeliveryView[];
}

async function unpack(release: string, path: string): Promise<void> {
  using packed = await Deno.open(new URL(`${release}.db.gz`, FOLDER));
  await Deno.writeFile(path, packed.readable.pipeThrough(new DecompressionStream("gzip")));
}

/** The endpoints of `make.ts`, with a target that takes everything. */
function endpoints(target: Sink): EndpointSettings[] {
  const kept = { dedupWindow: "36500d", retention: "36500d" };
  return [
    ...["taken", "refused", "waiting", "paused", "replayed"].map((id) =>
      endpoint(id, target, kept)
    ),
    endpoint("ordered", target, { ...kept, ordered: true }),
  ];
}

const byId = (deliveries: readonly DeliveryView[]) => deliveries.map(({ id }) => id);

/** The delivery came to its target with exactly the bytes that were noted. */
async function assertBytes(sink: Sink, { id, sha256: digest }: DeliveryView): Promise<void> {
  const last = await until(() => attemptsOf(sink, id).at(-1), { what: `${id} at its target` });
  assert.equal(sha256(last.body), digest, `the body of ${id}`);
}

async function opened(release: string, behaviour: Behaviour): Promise<void> {
  const noted: Noted = JSON.parse(Deno.readTextFileSync(new URL(`${release}.json`, FOLDER)));
  const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
  const kvPath = `${folder}/relay.db`;
  await unpack(release, kvPath);
  try {
    await using sink = startSink();
    await using relay = await startRelay({ kvPath, endpoints: endpoints(sink) });
    await check(noted, relay, sink, behaviour);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function check(
  { deliveries, job, cookie }: Noted,
  relay: Relay,
  sink: Sink,
  behaviour: Behaviour,
): Promise<void> {
  const of = (...ids: string[]) => deliveries.filter((one) => ids.includes(one.endpoint));

  await behaviour("all is listed, in the same order", async () => {
    assert.deepEqual(byId(await allDeliveries(relay, "")), byId(deliveries));
  });

  await behaviour("what waited is delivered with its bytes", async () => {
    for (const one of of("waiting", "ordered")) {
      await reached(relay, one.id, "delivered");
      await assertBytes(sink, one);
    }
  });

  await behaviour("an ordered lane goes on in its order", () => {
    const came = sink.requests.map((request) => request.header("holdfast-delivery-id"));
    const places = byId(of("ordered")).toReversed().map((id) => came.indexOf(id));
    assert.deepEqual(places, places.toSorted((a, b) => a - b));
    return Promise.resolve();
  });

  await behaviour("a replay job goes on to its end", async () => {
    await until(
      async () => (await read<{ state: string }>(relay, `/replays/${job}`)).state === "done",
      {
        what: "the job to end",
      },
    );
    for (const one of of("replayed")) {
      assert.equal((await reached(relay, one.id, "delivered")).replays, 1);
      await assertBytes(sink, one);
    }
  });

  await behaviour("a paused lane is still paused, and delivers once it is resumed", async () => {
    for (const { id } of of("paused")) assert.equal(attemptsOf(sink, id).length, 0);
    await read(relay, "/endpoints/paused/resume", { method: "POST" });
    for (const one of of("paused")) {
      await reached(relay, one.id, "delivered");
      await assertBytes(sink, one);
    }
  });

  await behaviour("what is dead or delivered can be replayed with its bytes", async () => {
    for (const one of of("refused", "taken")) {
      assert.equal(await replay(relay, one.id), 202);
      await reached(relay, one.id, "delivered");
      await assertBytes(sink, one);
    }
  });

  await behaviour("an event that came before is still known", async () => {
    const [known] = of("taken");
    const again = await post(relay, "taken", { headers: { "x-event-id": known.eventId } });
    assert.deepEqual([again.status, again.deliveryId], ["duplicate", known.id]);
  });

  await behaviour("an old session lets in or leads to the sign-in page", async () => {
    const headers = { cookie, accept: "text/html" };
    const answer = await fetch(`${relay.origin}/admin`, { headers, redirect: "manual" });
    await answer.body?.cancel();
    assert([200, 303].includes(answer.status), `${answer.status}`);
  });

  await behaviour("the doctor finds nothing", async () => {
    const { deliveryId } = await accept(relay, "taken", { headers: { "x-event-id": "new" } });
    await reached(relay, deliveryId, "delivered");
    const { code, stdout, stderr } = await cli(undefined, ["doctor", relay.kvPath]);
    assert.equal(code, 0, stdout + stderr);
  });
}

for (const release of RELEASES) {
  group(`a store written by release ${release}`, (behaviour) => opened(release, behaviour));
}
