import { probeText } from "../../islands/badges.tsx";
import { count, countUpTo, Time } from "../../islands/format.tsx";
import type { LaneView } from "../../islands/views.ts";
import { BREAKER_CAUSES } from "../../lib/decide/conditions.ts";

interface Props {
  lane: LaneView;
  nowMs: number;
}

/** What an endpoint's lane holds now, why it waits, and the ways to these deliveries. */
export function LaneFacts({ lane, nowMs }: Props) {
  const { endpoint, counts, oldestPendingAt, pausedAt } = lane;
  const most = counts.countedUpTo;
  const deliveries = `/admin/deliveries?endpoint=${endpoint}`;
  return (
    <section class="card">
      <div class="title">
        <h2>Now</h2>
        <a href={deliveries}>All its deliveries</a>
      </div>
      <dl class="facts">
        <dt>Waiting</dt>
        <dd>
          <a href={`${deliveries}&state=pending`}>{countUpTo(counts.pending, most)}</a>
          {oldestPendingAt !== undefined && (
            <>
              , the oldest accepted <Time at={oldestPendingAt} nowMs={nowMs} />
            </>
          )}
        </dd>
        <dt>In flight</dt>
        <dd>{countUpTo(counts.inFlight, most)}</dd>
        <dt>Dead letters</dt>
        <dd>
          <a href={`/admin/dead-letters?endpoint=${endpoint}`}>{countUpTo(counts.dead, most)}</a>
        </dd>
        <dt>Delivered</dt>
        <dd>{count(counts.lastHour.delivered)} in the last hour</dd>
        {pausedAt !== undefined && (
          <>
            <dt>Paused</dt>
            <dd>
              <Time at={pausedAt} nowMs={nowMs} />, by an operator
            </dd>
          </>
        )}
        <BreakerFact lane={lane} nowMs={nowMs} />
        <HeadFact lane={lane} nowMs={nowMs} />
      </dl>
    </section>
  );
}

function BreakerFact({ lane: { breaker }, nowMs }: Props) {
  if (breaker.state !== "open") return null;
  return (
    <>
      <dt>Breaker open</dt>
      <dd>{BREAKER_CAUSES[breaker.cause ?? "answer"]}; {probeText(breaker, nowMs)}</dd>
    </>
  );
}

/** Of an ordered lane: what all others wait for. */
function HeadFact({ lane: { blockedBy }, nowMs }: Props) {
  if (blockedBy === undefined) return null;
  return (
    <>
      <dt>Behind</dt>
      <dd>
        <a href={`/admin/deliveries/${blockedBy.deliveryId}`}>
          <code>{blockedBy.deliveryId}</code>
        </a>
        {blockedBy.until !== undefined && (
          <>
            , tried again <Time at={blockedBy.until} nowMs={nowMs} />
          </>
        )}
      </dd>
    </>
  );
}
