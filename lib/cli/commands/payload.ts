import { examples } from "../examples.ts";
import type { AddCommand, Session } from "../session.ts";
import { safeLines } from "../text.ts";

export const addPayload: AddCommand = (program, session) => {
  program.command("payload")
    .argument("<id>", "the delivery's id")
    .description("the stored body, byte for byte (needs showPayload at the endpoint)")
    .option("-o, --output <file>", "write it to a file")
    .addHelpText(
      "after",
      examples(
        "payload 01JZ3V7Q0W2M5X8R4T6Y9B1C3D | jq .",
        "payload 01JZ3V7Q0W2M5X8R4T6Y9B1C3D -o body.bin",
      ),
    )
    .action(async (id: string, { output }: { output?: string }) => {
      const opened = session();
      const { body } = await opened.client.open(`/deliveries/${encodeURIComponent(id)}/payload`);
      if (body === null) return;
      if (output === undefined) await print(opened, body);
      else await opened.io.writeFile(output, body);
    });
};

/** As it is to a file or a pipe; shown as text, with nothing that steers it, in a terminal. */
async function print({ out }: Session, body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  if (!out.isTerminal) {
    for await (const bytes of body) out.bytes(bytes);
    return;
  }
  for await (const text of body.pipeThrough(new TextDecoderStream())) out.text(safeLines(text));
  out.text("\n");
}
