/// <reference lib="dom" />
import { StateBadge } from "./badges.tsx";
import { short, size, Time, visible } from "./format.tsx";
import { LiveSwitch, readJson, useLive } from "./live.tsx";
import type { DeliveryPageView, DeliveryView } from "./views.ts";

export interface DeliveriesProps {
  page: DeliveryPageView;
  /** The list's filters as the API's query, without the place in the list. */
  query: string;
  endpoint?: string;
  nowMs: number;
}

/** The newest deliveries that fit; new ones come in at the top. */
export function Deliveries({ page, query, endpoint, nowMs }: DeliveriesProps) {
  const live = useLive(page, nowMs, {
    read: () => readJson<DeliveryPageView>(`/api/v1/deliveries?${query}`),
    concerns: (told) => endpoint === undefined || told.endpoint === endpoint,
  });
  return (
    <section class="card">
      <div class="title">
        <h2>Newest first</h2>
        <LiveSwitch {...live} />
      </div>
      <DeliveryTable items={live.value.items} nowMs={live.nowMs} />
    </section>
  );
}

/** Rows of deliveries. The arrow keys, and j and k, go from row to row. */
export function DeliveryTable({ items, nowMs }: { items: DeliveryView[]; nowMs: number }) {
  if (items.length === 0) return <p class="empty">Nothing here yet.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Deliveries" onKeyDown={moveFocus}>
      <table class="deliveries">
        <thead>
          <tr>
            <th scope="col">Event id</th>
            <th scope="col">Endpoint</th>
            <th scope="col">State</th>
            <th scope="col" class="n">Attempts</th>
            <th scope="col">Last answer</th>
            <th scope="col" class="n">Size</th>
            <th scope="col">Accepted</th>
          </tr>
        </thead>
        <tbody>{items.map((item) => <Row key={item.id} item={item} nowMs={nowMs} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ item, nowMs }: { item: DeliveryView; nowMs: number }) {
  const { id, eventId, endpoint, attemptCount, replays, bytes, acceptedAt } = item;
  return (
    <tr>
      <th scope="row">
        <a href={`/admin/deliveries/${id}`} title={visible(eventId)}>{short(visible(eventId))}</a>
      </th>
      <td>{endpoint}</td>
      <td>
        <StateBadge {...item} />
      </td>
      <td class="n">
        {attemptCount}
        {replays > 0 && <small title="replays">+{replays}↻</small>}
      </td>
      <td>{lastAnswer(item)}</td>
      <td class="n">{size(bytes)}</td>
      <td>
        <Time at={acceptedAt} nowMs={nowMs} />
      </td>
    </tr>
  );
}

function lastAnswer({ attempts }: DeliveryView): string {
  const last = attempts.at(-1);
  return last === undefined ? "–" : String(last.status ?? last.code ?? "–");
}

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Only where a row has the focus already, so that the keys are nobody else's. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = STEPS[event.key];
  const links = Array.from(event.currentTarget.querySelectorAll<HTMLElement>("tbody th a"));
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || (at < 0 && document.activeElement !== event.currentTarget)) return;
  links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  event.preventDefault();
}
