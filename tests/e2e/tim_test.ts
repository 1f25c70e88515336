import assert from "node:assert/strict";
import { inTurn } from "../helpers/answer.ts";
import { gapsMs } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { type AttemptView, delivery, reached } from "../helpers/operator.ts";
import { inParallel } from "../helpers/parallel.ts";
import { accept } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { type Script, startSink } from "../helpers/sink.ts";
import { pause, until } from "../helpers/wait.ts";

const HOUR_MS = 3_600_000;

/** Two clocks and whole milliseconds lie between the relay's decision and the sink's record. */
const CLOCK_SLACK_MS = 5;

const NONSENSE = ["-5", "+3", "1.5", "tomorrow", "1e3", ""];

/** First asks to wait as `value` says, then takes it. */
const busyOnce = (value: () => string, status = 503): Script => (_request, index) =>
  index === 0 ? { status, headers: [`Retry-After: ${value()}`] } : {};

/** How long after its failure the next attempt was planned. */
const plannedMs = ({ at, ms, retryAt }: AttemptView) =>
  Date.parse(retryAt ?? "") - Date.parse(at) - ms;

group("retry timing", async (behaviour) => {
  let dateMs = 0;
  const twoSecondsAhead = () => {
    dateMs = Math.ceil(Date.now() / 1_000) * 1_000 + 2_000;
    return new Date(dateMs).toUTCString();
  };
  let afterDateMs = 0;
  const date = busyOnce(twoSecondsAhead);
  await using dated = startSink((request, index) => {
    if (index === 1) afterDateMs = Date.now();
    return typeof date === "function" ? date(request, index) : date;
  });
  await using nonsense = startSink((_request, index) =>
    index < NONSENSE.length
      ? { status: index % 2 === 0 ? 503 : 429, headers: [`Retry-After: ${NONSENSE[index]}`] }
      : {}
  );
  await using rude = startSink(busyOnce(() => "99999999999"));
  await using patient = startSink(busyOnce(() => "2200000"));
  const seen = new Map<string, number>();
  await using crowd = startSink((request) => {
    const id = request.header("holdfast-delivery-id") ?? "";
    if (seen.has(id)) return {};
    seen.set(id, performance.now());
    return { status: 429, headers: ["Retry-After: 1"] };
  });
  await using failing = startSink(inTurn(500));
  await using once = startSink(inTurn(500));
  await using zero = startSink(inTurn(500));
  await using past = startSink(busyOnce(() => "Wed, 21 Oct 2015 07:28:00 GMT"));
  await using now = startSink(busyOnce(() => "0"));
  await using sender = startSink(inTurn(500, 200));
  const schedule = (...delays: (string | number)[]) => ({ retry: { schedule: delays } });
  await using relay = await startRelay({
    endpoints: [
      endpoint("dated", dated),
      endpoint("nonsense", nonsense, schedule(...NONSENSE.map(() => "300ms"))),
      endpoint("rude", rude),
      endpoint("patient", patient),
      endpoint("crowd", crowd),
      endpoint("failing", failing, schedule("200ms", "200ms")),
      endpoint("once", once, schedule()),
      endpoint("zero", zero, schedule(0, "1s")),
      endpoint("past", past, schedule("300ms")),
      endpoint("now", now, schedule("300ms")),
      endpoint("old", sender, { retry: { schedule: ["300ms", "300ms"], maxAge: "1ms" } }),
    ],
  });

  await Promise.all([
    behaviour("a Retry-After date is waited for", async () => {
      const { deliveryId } = await accept(relay, "dated");
      assert.equal((await reached(relay, deliveryId, "delivered")).attemptCount, 2);
      assert(afterDateMs >= dateMs - CLOCK_SLACK_MS, `${dateMs - afterDateMs} ms early`);
    }),

    behaviour("an unreadable Retry-After is as good as none", async () => {
      const { deliveryId } = await accept(relay, "nonsense");
      const { attempts } = await reached(relay, deliveryId, "delivered");
      const planned = attempts.slice(0, -1).map(plannedMs);
      assert.equal(planned.length, NONSENSE.length);
      for (const ms of planned) assert(ms >= 299 && ms < 900, `planned ${planned} ms`);
      for (const ms of gapsMs(nonsense.requests)) assert(ms >= 300 - CLOCK_SLACK_MS, `${ms} ms`);
    }),

    ...(["rude", "patient"] as const).map((id) =>
      behaviour(`a ${id} Retry-After means the cap of six hours, not a retry at once`, async () => {
        const { deliveryId } = await accept(relay, id);
        const waiting = await until(async () => {
          const found = await delivery(relay, deliveryId);
          return found.attemptCount === 1 && found.state === "pending" ? found : undefined;
        }, { what: "the first attempt to end" });
        const waitMs = Date.parse(waiting.dueAt ?? "") - Date.parse(waiting.attempts[0].at);
        assert(Math.abs(waitMs - 6 * HOUR_MS) < 60_000, `due after ${waitMs} ms`);
        await pause(1_000);
        assert.equal((await delivery(relay, deliveryId)).attemptCount, 1);
      })
    ),

    behaviour("no retry comes earlier than Retry-After, whatever the jitter", async () => {
      const accepted = await inParallel(40, 40, () => accept(relay, "crowd"));
      for (const { deliveryId } of accepted) await reached(relay, deliveryId, "delivered");
      const second = crowd.requests.filter((r) => r.header("holdfast-attempt") === "2");
      assert.equal(second.length, 40);
      for (const request of second) {
        const gap = request.atMs - seen.get(request.header("holdfast-delivery-id") ?? "")!;
        assert(gap >= 1_000 - CLOCK_SLACK_MS, `retried after ${gap} ms`);
      }
    }),

    behaviour("a delivery is tried once and once more for each step of its schedule", async () => {
      const { deliveryId } = await accept(relay, "failing");
      const { reason, attempts } = await reached(relay, deliveryId, "dead");
      assert.equal(reason, "exhausted");
      assert.deepEqual(attempts.map(({ outcome }) => outcome), ["retry", "retry", "dead"]);
      const numbers = failing.requests.map((request) => request.header("holdfast-attempt"));
      assert.deepEqual(numbers, ["1", "2", "3"]);
    }),

    behaviour("an empty schedule means one attempt", async () => {
      const { deliveryId } = await accept(relay, "once");
      assert.equal((await reached(relay, deliveryId, "dead")).attemptCount, 1);
      assert.equal(once.requests.length, 1);
    }),

    behaviour("a wait of zero is a wait of zero", async () => {
      const { deliveryId } = await accept(relay, "zero");
      const { attempts } = await reached(relay, deliveryId, "dead");
      assert.equal(attempts.length, 3);
      const [none, some] = attempts.map(plannedMs);
      assert(some >= 999 && none < some, `planned ${none} ms and ${some} ms`);
    }),

    ...(["past", "now"] as const).map((id) =>
      behaviour(`a Retry-After of the ${id} leaves the schedule as it is`, async () => {
        const { deliveryId } = await accept(relay, id);
        const { attempts } = await reached(relay, deliveryId, "delivered");
        const ms = plannedMs(attempts[0]);
        assert(ms >= 299, `planned ${ms} ms`);
      })
    ),

    behaviour("a delivery older than its longest age is expired", async () => {
      const { deliveryId } = await accept(relay, "old");
      assert.equal((await reached(relay, deliveryId, "dead")).reason, "expired");
    }),
  ]);

  await behaviour("none of it is logged as an error", () => {
    assert.doesNotMatch(relay.output, /"level":"error"/);
    return Promise.resolve();
  });
});
