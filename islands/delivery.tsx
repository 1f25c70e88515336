import { StateBadge } from "./badges.tsx";
import { duration, size, Time, visible } from "./format.tsx";
import { LiveSwitch, readJson, useLive } from "./live.tsx";
import type { DeliveryView } from "./views.ts";

export interface DeliveryProps {
  delivery: DeliveryView;
  csrf: string;
  nowMs: number;
}

/** One delivery: its fate, what can be done with it, and its attempts. */
export function Delivery({ delivery, csrf, nowMs }: DeliveryProps) {
  const live = useLive(delivery, nowMs, {
    read: () => readJson<DeliveryView>(`/api/v1/deliveries/${delivery.id}`),
    concerns: (told) => told.deliveryId === delivery.id,
  });
  const shown = live.value;
  return (
    <>
      <div class="title">
        <h1 class="id">{visible(shown.eventId)}</h1>
        <LiveSwitch {...live} />
      </div>
      <div class="title">
        <StateBadge {...shown} />
        <Actions delivery={shown} csrf={csrf} />
      </div>
      <Facts delivery={shown} nowMs={live.nowMs} />
      <section class="card">
        <h2>Attempts</h2>
        <Attempts delivery={shown} nowMs={live.nowMs} />
      </section>
    </>
  );
}

function Actions({ delivery: { id, state }, csrf }: { delivery: DeliveryView; csrf: string }) {
  const action = state === "pending"
    ? "cancel"
    : state === "dead" || state === "delivered"
    ? "replay"
    : undefined;
  if (action === undefined) return null;
  return (
    <form method="post" action={`/admin/deliveries/${id}/${action}`}>
      <input type="hidden" name="csrf" value={csrf} />
      <button type="submit" class={action === "replay" ? "primary" : "danger"}>
        {action === "replay" ? "Replay" : "Cancel delivery"}
      </button>
    </form>
  );
}

function Facts({ delivery, nowMs }: { delivery: DeliveryView; nowMs: number }) {
  const { id, endpoint, method, path, query, bytes, sha256, replays } = delivery;
  const { acceptedAt, dueAt, settledAt, state } = delivery;
  return (
    <dl class="facts">
      <dt>Endpoint</dt>
      <dd>
        <a href={`/admin/endpoints/${endpoint}`}>{endpoint}</a>
      </dd>
      <dt>Delivery id</dt>
      <dd>
        <code>{id}</code>
      </dd>
      <dt>Request</dt>
      <dd>
        <code>{method} {visible(path || "/")}{query && `?${visible(query)}`}</code>
      </dd>
      <dt>Body</dt>
      <dd>
        {size(bytes)}, SHA-256 <code class="hash">{sha256}</code>
      </dd>
      <dt>Accepted</dt>
      <dd>
        <Time at={acceptedAt} nowMs={nowMs} />
      </dd>
      {dueAt !== undefined && (
        <>
          <dt>Next look</dt>
          <dd>
            {Date.parse(dueAt) > nowMs || state !== "pending"
              ? <Time at={dueAt} nowMs={nowMs} />
              : "as soon as its endpoint is free"}
          </dd>
        </>
      )}
      {settledAt !== undefined && (
        <>
          <dt>Settled</dt>
          <dd>
            <Time at={settledAt} nowMs={nowMs} />
          </dd>
        </>
      )}
      {replays > 0 && (
        <>
          <dt>Replays</dt>
          <dd>{replays}</dd>
        </>
      )}
    </dl>
  );
}

const TONES = { delivered: "good", retry: "warn", dead: "bad", refunded: "wait" } as const;

function Attempts({ delivery, nowMs }: { delivery: DeliveryView; nowMs: number }) {
  const { attempts, attemptCount } = delivery;
  if (attempts.length === 0) return <p class="empty">Not tried yet.</p>;
  return (
    <>
      {attemptCount > attempts.length && (
        <p class="note">The last {attempts.length} of {attemptCount}.</p>
      )}
      <ol class="timeline">
        {attempts.toReversed().map((attempt) => (
          <li key={attempt.n} class={TONES[attempt.outcome]}>
            <b>#{attempt.n}</b>
            <span class={`badge ${TONES[attempt.outcome]}`}>{attempt.outcome}</span>
            <span>{attempt.status ?? attempt.code}</span>
            <span>{duration(attempt.ms)}</span>
            <Time at={attempt.at} nowMs={nowMs} />
            {attempt.retryAt !== undefined && (
              <span class="note">
                then <Time at={attempt.retryAt} nowMs={nowMs} />
              </span>
            )}
            {attempt.location !== undefined && (
              <span class="note">to {visible(attempt.location)}</span>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
