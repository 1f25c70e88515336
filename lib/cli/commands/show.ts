import { examples } from "../examples.ts";
import { answer, word } from "../look.ts";
import type { AddCommand, Session } from "../session.ts";
import type { DeliveryView } from "../shapes.ts";
import { pairs, table } from "../table.ts";
import { safe } from "../text.ts";
import { relative } from "../time.ts";

export const addShow: AddCommand = (program, session) => {
  program.command("show")
    .argument("<id>", "the delivery's id")
    .description("one delivery with all its attempts")
    .addHelpText("after", examples("show 01JZ3V7Q0W2M5X8R4T6Y9B1C3D"))
    .action(async (id: string) => {
      const opened = session();
      const delivery = await opened.client.call<DeliveryView>(
        `/deliveries/${encodeURIComponent(id)}`,
      );
      if (opened.out.json) return opened.out.value(delivery);
      opened.out.text(recordText(opened, delivery));
      opened.out.text(attemptTable(opened, delivery));
    });
};

function recordText({ out, io }: Session, delivery: DeliveryView): string {
  const when = (iso: string | undefined) => iso && `${safe(iso)} (${relative(iso, io.nowMs())})`;
  const { query, reason, headers = [] } = delivery;
  return pairs([
    ["id", safe(delivery.id)],
    ["state", word(delivery.state)],
    ["reason", reason && safe(reason)],
    ["endpoint", safe(delivery.endpoint)],
    ["event", safe(delivery.eventId)],
    ["request", safe(`${delivery.method} ${delivery.path}${query === "" ? "" : `?${query}`}`)],
    ["body", `${delivery.bytes} bytes, sha256 ${safe(delivery.sha256)}`],
    ["accepted", when(delivery.acceptedAt)],
    ["due", when(delivery.dueAt)],
    ["settled", when(delivery.settledAt)],
    ["replays", delivery.replays > 0 ? String(delivery.replays) : undefined],
    ...headers.map(([name, value]) => [`  ${safe(name)}`, safe(value)] as const),
  ], out.paint);
}

function attemptTable({ out }: Session, { attempts }: DeliveryView): string {
  const rows = attempts.map((attempt) => [
    String(attempt.n),
    safe(attempt.at),
    answer(attempt),
    `${Math.round(attempt.ms)} ms`,
    word(attempt.outcome),
    safe(attempt.retryAt ?? ""),
  ]);
  const text = table(["TRY", "AT", "ANSWER", "AFTER", "OUTCOME", "NEXT"], rows, out.paint);
  return text === "" ? "" : `\n${text}`;
}
