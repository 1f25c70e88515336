import { Hono } from "hono";
import { visible } from "../../islands/format.tsx";
import { csrfToken } from "../../lib/auth/forgery.ts";
import { cancel, replay } from "../../lib/flow/operate/deliveries.ts";
import { inspect, type Inspection } from "../../lib/flow/operate/inspect.ts";
import { isOpen } from "../../lib/states.ts";
import { deliveryShape, MASK } from "../operator/shapes.ts";
import { type AdminEnv, type AdminParts, originOf } from "./context.ts";
import { curlLine } from "./curl.ts";
import { Island } from "./island.tsx";
import { page, problemPage } from "./layout.tsx";
import { PayloadView } from "./payload_view.tsx";

/** `/admin/deliveries/:id`: one delivery, and the forms that replay or cancel it. */
export function deliveryPage(parts: AdminParts): Hono<AdminEnv> {
  const { relay } = parts;
  const app = new Hono<AdminEnv>();
  app.get("/:id", async (context) => {
    const found = await inspect(relay, context.req.param("id"));
    if ("code" in found) return problemPage(context, found);
    const props = {
      delivery: deliveryShape(found.delivery, found.shown),
      csrf: csrfToken(context.var.session.secret),
      nowMs: relay.clock.nowMs(),
    };
    const curl = curlLine(found, originOf(parts, context));
    return page(
      context,
      { title: "Delivery" },
      <>
        <Island name="Delivery" props={props} />
        <Payload found={found} />
        <Headers found={found} />
        {/* Without its content the command asks for a replay, which an open one refuses. */}
        {(found.shown || !isOpen(found.delivery.state)) && (
          <section class="card">
            <h2>As a command</h2>
            <Island name="Copy" props={{ text: curl, label: "The request as a curl command" }} />
            <p class="note">
              {found.shown
                ? "Here it counts as a repeat of the same event; put your backend's address in to try it there."
                : "It asks for a replay: the payload is hidden."}
            </p>
          </section>
        )}
      </>,
    );
  });
  for (const [action, act] of [["replay", replay], ["cancel", cancel]] as const) {
    app.post(`/:id/${action}`, async (context) => {
      const id = context.req.param("id");
      const result = await act(relay, id);
      return "code" in result
        ? problemPage(context, result)
        : context.redirect(`/admin/deliveries/${id}`, 303);
    });
  }
  return app;
}

function Payload({ found: { delivery, shown, start } }: { found: Inspection }) {
  return (
    <section class="card">
      <div class="title">
        <h2>Payload</h2>
        {shown && delivery.bytes > 0 && (
          <a class="button" href={`/api/v1/deliveries/${delivery.id}/payload`} download>Download</a>
        )}
      </div>
      {start === undefined
        ? <p class="empty">Hidden: the endpoint does not have “showPayload”.</p>
        : <PayloadView start={start} bytes={delivery.bytes} />}
    </section>
  );
}

function Headers({ found: { headers, shown } }: { found: Inspection }) {
  return (
    <section class="card">
      <h2>Headers</h2>
      {!shown && <p class="note">Values are hidden with the payload.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Headers">
        <table class="headers">
          <tbody>
            {headers.map(([name, value], index) => (
              <tr key={index}>
                <th scope="row">{name}</th>
                <td>{value === undefined ? MASK : visible(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
