/**
 * A program of a later release that does nothing but bring its store up to date: adds one to
 * every row, and then another one under a further name. So rows that came by twice show.
 *
 *   deno run -A tests/store/migrating.ts <store> [pause in milliseconds before each row]
 */
import { clock } from "../../lib/boot/clock.ts";
import { Committer } from "../../lib/store/commit.ts";
import type { Kv } from "../../lib/store/kv.ts";
import { bringUp } from "../../lib/store/migrate.ts";
import type { Migration } from "../../lib/store/migrations.ts";

export const ROWS = 400;

interface Row {
  n: number;
  renamed?: number;
}

/** Two steps, one that changes every row and one that changes every second. */
export function steps(beforeRow = () => {}): Migration[] {
  const change = (to: (row: Row) => Row | undefined): Migration["change"] => ({ key, value }) => {
    beforeRow();
    const changed = to(value as Row);
    return changed === undefined ? [] : [{ type: "set", key, value: changed }];
  };
  return [
    { name: "count up", prefix: ["row"], change: change(({ n }) => ({ n: n + 1 })) },
    {
      name: "rename",
      prefix: ["row"],
      change: change(({ n }) => n % 2 === 1 ? { n, renamed: n } : undefined),
    },
  ];
}

/** Rows of the first release, and some that no step asks for. */
export async function fill(kv: Kv): Promise<void> {
  for (let n = 0; n < ROWS; n++) await kv.set(["row", n], { n });
  await kv.set(["other", 1], "as it was");
  await kv.set(["rowdy", 1], "as it was");
}

/** What has to be there after both steps, each done once. */
export function expected(): Row[] {
  return Array.from({ length: ROWS }, (_, index) => index + 1)
    .map((n) => n % 2 === 1 ? { n, renamed: n } : { n });
}

export async function rowsOf(kv: Kv): Promise<Row[]> {
  return (await Array.fromAsync(kv.list<Row>({ prefix: ["row"] }))).map(({ value }) => value);
}

if (import.meta.main) {
  const [path, pauseMs = "0"] = Deno.args;
  const kv = await Deno.openKv(path);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  const slowly = () => void Atomics.wait(wait, 0, 0, Number(pauseMs));
  const log = (_level: string, event: string) => console.log(event);
  const fault = await bringUp(
    { kv, committer: new Committer(kv, clock), clock },
    log,
    steps(slowly),
  );
  if (fault !== undefined) throw new Error(fault);
  kv.close();
}
