import { examples } from "../examples.ts";
import { laneState } from "../look.ts";
import type { AddCommand, Session } from "../session.ts";
import type { EndpointView } from "../shapes.ts";
import { table } from "../table.ts";
import { safe } from "../text.ts";

const ACTIONS = {
  pause: "hold an endpoint's deliveries; it still accepts",
  resume: "let a paused endpoint go on",
  enable: "enable a disabled endpoint and forget its failures",
  disable: "disable an endpoint; it still accepts, deliveries wait",
};

/** `pause`, `resume`, `enable` and `disable`: one request an endpoint. */
export const addLaneActions: AddCommand = (program, session) => {
  for (const [action, description] of Object.entries(ACTIONS)) {
    program.command(action)
      .argument("<endpoint...>", "their ids")
      .description(description)
      .addHelpText("after", examples(`${action} github`, `${action} github stripe`))
      .action((ids: string[]) => act(session(), action, ids));
  }
};

async function act({ client, out, io }: Session, action: string, ids: string[]): Promise<void> {
  for (const id of ids) {
    const path = `/endpoints/${encodeURIComponent(id)}/${action}`;
    const endpoint = await client.call<EndpointView>(path, { method: "POST" });
    if (out.json) out.value(endpoint);
    else {
      const row = [safe(endpoint.id), laneState(endpoint, io.nowMs())];
      out.text(table(["ENDPOINT", "STATE"], [row], out.paint));
    }
  }
}
