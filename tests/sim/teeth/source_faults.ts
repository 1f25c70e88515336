/** One deliberate fault in a copy of the source: the first `find` becomes `put`. */
export interface SourceFault {
  name: string;
  /** Where the search begins: a seed that shows it, since most would not. */
  from?: number;
  path: string;
  find: string;
  put: string;
}

export const SOURCE_FAULTS: readonly SourceFault[] = [
  {
    name: "a claim does not move the due time",
    from: 13,
    path: "lib/decide/transition.ts",
    find: "dueAtMs: leaseEndMs };",
    put: "dueAtMs: nowMs };",
  },
  {
    name: "leases are not renewed",
    from: 33,
    path: "lib/flow/held.ts",
    find: 'if (this.lost || this.delivery.state !== "in_flight") return;',
    put: "return;",
  },
  {
    name: "an open breaker holds nothing",
    from: 4,
    path: "lib/decide/gate.ts",
    find: 'if (breaker.phase === "closed")',
    put: "if (breaker.phase !== undefined)",
  },
  {
    name: "two probes at once",
    from: 7,
    path: "lib/decide/breaker.ts",
    find: "&& !isProbing(state, nowMs);",
    put: ";",
  },
  {
    name: "a pause holds nothing",
    from: 13,
    path: "lib/decide/gate.ts",
    find: 'if (paused) return { go: "none", why: "paused" };',
    put: "",
  },
  {
    name: "an ordered lane forgets its head",
    from: 7,
    path: "lib/flow/ordered.ts",
    find: "if (known !== undefined && isOpen(known.value.state)",
    put: "if (known === null",
  },
  {
    name: "every claimed event id is taken for outlived",
    path: "lib/flow/admit.ts",
    find: "return decodeTime(deliveryId) + claim.windowMs <= nowMs;",
    put: "return decodeTime(deliveryId) + claim.windowMs > nowMs;",
  },
  {
    name: "due entries of waiting deliveries are cleared away",
    path: "lib/flow/claim.ts",
    find: "if (!waits) await dropDue",
    put: "if (waits) await dropDue",
  },
  {
    name: "a commit that timed out is answered with success",
    path: "lib/store/commit.ts",
    find: "this.#settle(waiting, () => waiting.reject(failure));\n      return;",
    put:
      "this.#settle(waiting, () => waiting.resolve({ ok: true, versionstamp: '0' }));\n      return;",
  },
  {
    name: "any 4xx counts as delivered",
    path: "lib/decide/classify.ts",
    find: "status <= 299",
    put: "status <= 499",
  },
  {
    name: "a refused delivery waits for ever",
    path: "lib/decide/settle.ts",
    find: 'return { to: "dead", reason: verdict.reason };',
    put: 'return { to: "retry", retryAtMs: nowMs + 86_400_000 };',
  },
  {
    name: "the payload is deleted with the first attempt",
    path: "lib/store/payload.ts",
    find: "body: standAlone(body.subarray(0, first)),",
    put: "body: standAlone(body.subarray(0, first)).fill(0),",
  },
  {
    name: "a probe into an outage counts",
    from: 5,
    path: "lib/decide/settle.ts",
    find: "return probe && (isOutageLike(result) || previousDueAtMs > atMs);",
    put: "return probe && previousDueAtMs > atMs;",
  },
  {
    name: "an early probe counts",
    from: 8,
    path: "lib/decide/settle.ts",
    find: "return probe && (isOutageLike(result) || previousDueAtMs > atMs);",
    put: "return probe && isOutageLike(result);",
  },
  {
    name: "no outage opens a breaker",
    from: 111,
    path: "lib/decide/breaker.ts",
    find: "return opens ? opened(next, event, settings) : next;",
    put: "return opens && isRateLimit(result) ? opened(next, event, settings) : next;",
  },
  {
    name: "a probe does not wait for Retry-After",
    from: 45,
    path: "lib/flow/probe.ts",
    find: 'return value.state === "pending" && (value.notBeforeMs ?? 0) <= nowMs;',
    put: 'return value.state === "pending";',
  },
  {
    name: "a recovery does not wait for Retry-After",
    from: 19,
    path: "lib/flow/recovery.ts",
    find: "(delivery.notBeforeMs ?? 0) <= nowMs;",
    put: "true;",
  },
  {
    name: "each process has a rate of its own",
    from: 31,
    path: "lib/store/rate.ts",
    find: "const stored = entry.value?.freeAtMs ?? 0;",
    put: "const stored = 0;",
  },
  {
    name: "a closing breaker lets nothing out early",
    from: 98,
    path: "lib/decide/lane.ts",
    find: "...(closes ? { recovery: { atMs: nowMs } } : {})",
    put: "",
  },
  {
    name: "an open breaker is not looked at again in time",
    from: 103,
    path: "lib/decide/gate.ts",
    find: 'why: "open", untilMs: breaker.openUntilMs }',
    put: 'why: "open" }',
  },
  {
    name: "a sender waits for a body to be taken back",
    from: 60,
    path: "lib/store/staging.ts",
    find: "await Promise.race([dropped, late]);",
    put: "await dropped;",
  },
  {
    name: "the dead are pruned like the delivered",
    from: 25,
    path: "lib/store/prune.ts",
    find: 'return state === "dead" && settledAtMs < cutoff.deadBeforeMs;',
    put: "return settledAtMs < cutoff.deliveredBeforeMs;",
  },
  {
    name: "the delivered are pruned ahead of their time",
    from: 4,
    path: "lib/store/prune.ts",
    find: 'if (state === "delivered") return settledAtMs < cutoff.deliveredBeforeMs;',
    put: 'if (state === "delivered") return true;',
  },
  {
    name: "nothing is pruned",
    from: 35,
    path: "lib/store/prune.ts",
    find: "if (isPast(value, cutoff)) await remove(store, { value, versionstamp });",
    put: "isPast(value, cutoff);",
  },
  {
    name: "a claimed event id is never outlived",
    path: "lib/flow/admit.ts",
    find: "return decodeTime(deliveryId) + claim.windowMs <= nowMs;",
    put: "return decodeTime(deliveryId) + claim.windowMs < nowMs - nowMs;",
  },
  {
    name: "relay mode's lanes bear no mark",
    from: 19,
    path: "lib/store/relay_marks.ts",
    find: "return isRelayLane(endpoint) ? [{",
    put: "return isRelayLane(`a ${endpoint}`) ? [{",
  },
  {
    name: "a relay lane's mark goes while something is due",
    from: 19,
    path: "lib/store/active.ts",
    find: "return (await dueAfter(store, endpoint, -1, 1)).length > 0;",
    put: "return false;",
  },
  {
    name: "what is due by a clock that was set back since stays so",
    from: 28,
    path: "lib/flow/drain.ts",
    find: "await dueTimes.putRight(lane);",
    put: "void dueTimes;",
  },
  {
    name: "a recovery forgets what found no rate",
    from: 186,
    path: "lib/flow/recovery.ts",
    find: "window.given = waited.map(({ entry }) => entry);",
    put: "",
  },
  {
    name: "a stop claims on",
    from: 22,
    path: "lib/flow/work.ts",
    find: "if (this.#refusing || !hasRoom",
    put: "if (!hasRoom",
  },
];
