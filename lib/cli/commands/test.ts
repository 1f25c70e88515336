import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import { answer } from "../look.ts";
import type { AddCommand } from "../session.ts";
import type { TestView } from "../shapes.ts";

export const addTest: AddCommand = (program, session) => {
  program.command("test")
    .argument("<endpoint>", "its id")
    .description("send one holdfast.test event to the target; 2xx enables a disabled endpoint")
    .addHelpText("after", examples("test github"))
    .action(async (id: string) => {
      const { client, out } = session();
      const path = `/endpoints/${encodeURIComponent(id)}/test`;
      const result = await client.call<TestView>(path, { method: "POST" });
      const said = `${answer(result)} after ${Math.round(result.ms)} ms`;
      if (out.json) out.value(result);
      else out.text(`${out.paint(result.ok ? "green" : "red", said)}\n`);
      if (!result.ok) throw new Failure(EXIT.failed, "the target did not take the test event");
    });
};
