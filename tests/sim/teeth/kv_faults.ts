import type { Kv } from "../../../lib/store/kv.ts";

/** A store that does not do what it is asked for, as the relay itself might forget to ask. */
export interface KvFault {
  name: string;
  tamper: (kv: Kv) => Kv;
}

type Atomic = ReturnType<Kv["atomic"]>;
type Commit = Atomic["commit"];

/** Leaves out of every atomic operation what `skips` names. */
function without(
  verb: "check" | "set" | "delete" | "sum",
  room: string,
  where: (key: Deno.KvKey, value?: unknown) => boolean = () => true,
): KvFault["tamper"] {
  return (kv) => {
    const atomic = () => {
      const operation = kv.atomic();
      const done = operation[verb].bind(operation) as (...args: unknown[]) => Atomic;
      const tampered = (...args: unknown[]) => {
        const key = verb === "check" ? (args[0] as Deno.AtomicCheck)?.key : args[0] as Deno.KvKey;
        return key?.[0] === room && where(key, args[1]) ? operation : done(...args);
      };
      return Object.assign(operation, { [verb]: tampered });
    };
    return { ...kv, atomic } as Kv;
  };
}

/** Changes what a commit answers. */
function answering(change: (commit: Commit) => Commit): KvFault["tamper"] {
  return (kv) => {
    const atomic = () => {
      const operation = kv.atomic();
      return Object.assign(operation, { commit: change(operation.commit.bind(operation)) });
    };
    return { ...kv, atomic } as Kv;
  };
}

const FAR = "ffffffffffffffff0000";

export const KV_FAULTS: readonly KvFault[] = [
  { name: "records are written without a check", tamper: without("check", "delivery") },
  { name: "event ids are claimed without a check", tamper: without("check", "event") },
  { name: "event ids are not claimed", tamper: without("set", "event") },
  { name: "lanes are written without a check", tamper: without("check", "lane") },
  { name: "a moved delivery gets no due entry", tamper: without("set", "due", (_, v) => v === 1) },
  { name: "old due entries stay", tamper: without("delete", "due") },
  { name: "the dead are not listed", tamper: without("set", "dead") },
  { name: "the revived stay listed as dead", tamper: without("delete", "dead") },
  { name: "payloads are not stored", tamper: without("set", "payload") },
  { name: "a staged body keeps its mark", tamper: without("delete", "staging") },
  { name: "relay mode's targets are not stored", tamper: without("set", "target") },
  { name: "counters are not written", tamper: without("sum", "stat") },
  {
    name: "a failed commit is taken for a success",
    tamper: answering((commit) => () => commit().catch(() => ({ ok: true, versionstamp: FAR }))),
  },
  {
    name: "a failed check is taken for a success",
    tamper: answering((commit) => async () => {
      const result = await commit();
      return result.ok ? result : { ok: true, versionstamp: FAR };
    }),
  },
  {
    name: "success is answered before the commit",
    tamper: answering((commit) => async () => {
      commit().catch(() => {});
      return { ok: true, versionstamp: FAR };
    }),
  },
];
