import type { Complaint } from "../../store/doctor.ts";
import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import type { AddCommand } from "../session.ts";
import { safe } from "../text.ts";

export const addDoctor: AddCommand = (program, session) => {
  program.command("doctor")
    .argument("[store]", "a KV file or KV Connect URL, instead of KV_PATH")
    .description("read the whole store, tell every broken invariant and how to repair it")
    .addHelpText("after", examples("doctor .data/holdfast.db", "doctor --json | jq .code"))
    .action(async (store?: string) => {
      const { io, out, err } = session();
      const path = store ?? io.env("KV_PATH");
      if (path === undefined || path === "") {
        throw new Failure(EXIT.usage, "cannot examine the store: KV_PATH is not set");
      }
      // Other commands speak to a relay: they need neither a store nor its code.
      const { examineStore, REPAIRS } = await import("../doctor.ts");
      let found = 0;
      for await (const complaint of examineStore(path, io.nowMs())) {
        found++;
        if (out.json) out.value({ ...complaint, repair: REPAIRS[complaint.code] });
        else out.text(textOf(complaint, REPAIRS[complaint.code]));
      }
      if (found > 0) throw new Failure(EXIT.failed, `broken invariants: ${found}`);
      err.text("no broken invariant\n");
    });
};

function textOf({ code, key, detail }: Complaint, repair: string): string {
  return safe(`${code} ${JSON.stringify(key)}: ${detail}`) + `\n  to repair: ${repair}\n`;
}
