import { examples } from "../examples.ts";
import { bounded, laneState } from "../look.ts";
import type { AddCommand, Session } from "../session.ts";
import type { EndpointView, PageView } from "../shapes.ts";
import { pairs, table } from "../table.ts";
import { safe } from "../text.ts";
import { relative } from "../time.ts";

export const addEndpoints: AddCommand = (program, session) => {
  program.command("endpoints")
    .argument("[endpoint]", "show this one in full")
    .description("the configured endpoints, or one of them")
    .addHelpText("after", examples("endpoints", "endpoints github", "endpoints --json | jq .id"))
    .action(async (id: string | undefined) => {
      const opened = session();
      if (id === undefined) return await list(opened);
      const endpoint = await opened.client.call<EndpointView>(
        `/endpoints/${encodeURIComponent(id)}`,
      );
      if (opened.out.json) opened.out.value(endpoint);
      else opened.out.text(endpointText(opened, endpoint));
    });
};

async function list({ client, out, io }: Session): Promise<void> {
  const { items } = await client.call<PageView<EndpointView>>("/endpoints");
  if (out.json) return items.forEach((item) => out.value(item));
  const rows = items.map((endpoint) => [
    safe(endpoint.id),
    laneState(endpoint, io.nowMs()),
    safe(endpoint.targetUrl),
    safe(endpoint.provider ?? ""),
    bounded(endpoint.counts.pending, endpoint.counts),
    bounded(endpoint.counts.dead, endpoint.counts),
  ]);
  out.text(table(["ENDPOINT", "STATE", "TARGET", "PROVIDER", "PENDING", "DEAD"], rows, out.paint));
}

/** An endpoint's fate first, then its settings as the API names them. */
export function endpointText({ out, io }: Session, endpoint: EndpointView): string {
  const { health: _, paused: _paused, breaker: _breaker, counts, ...rest } = endpoint;
  const { oldestPendingAt, blockedBy, ...settings } = rest;
  const nowMs = io.nowMs();
  return pairs([
    ["state", laneState(endpoint, nowMs)],
    ["pending", bounded(counts.pending, counts)],
    ["in flight", String(counts.inFlight)],
    ["dead", bounded(counts.dead, counts)],
    ["oldest pending", oldestPendingAt && relative(oldestPendingAt, nowMs)],
    ["blocked by", blockedBy && safe(blockedBy.deliveryId)],
    ...Object.entries(settings).map(([name, value]) => [name, settingText(value)] as const),
  ], out.paint);
}

const settingText = (value: unknown) =>
  safe(typeof value === "string" ? value : JSON.stringify(value));
