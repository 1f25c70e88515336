import { FateBadges } from "./badges.tsx";
import { Chart } from "./chart.tsx";
import { Conditions } from "./conditions.tsx";
import { count, countUpTo, Time } from "./format.tsx";
import { LiveSwitch, readJson, useLive } from "./live.tsx";
import type { LaneView, SeriesView, StatusView } from "./views.ts";

export interface OverviewProps {
  status: StatusView;
  series: SeriesView;
  span: "hour" | "day";
  nowMs: number;
}

type Shown = Pick<OverviewProps, "status" | "series">;

/** The relay at one look: what is wrong, what happened, how each lane fares. */
export function Overview({ span, nowMs, ...initial }: OverviewProps) {
  const live = useLive<Shown>(initial, nowMs, {
    read: async () => {
      const [status, series] = await Promise.all([
        readJson<StatusView>("/api/v1/status"),
        readJson<SeriesView>(`/admin/series?span=${span}`),
      ]);
      return { status, series };
    },
  });
  const { status, series } = live.value;
  return (
    <>
      <div class="title">
        <h1>Overview</h1>
        <LiveSwitch {...live} />
      </div>
      <Figures status={status} nowMs={live.nowMs} />
      <Conditions
        conditions={status.conditions}
        countedUpTo={status.counts.countedUpTo}
        nowMs={live.nowMs}
      />
      <section class="card">
        <div class="title">
          <h2>Traffic</h2>
          <nav class="tabs" aria-label="Span of the chart">
            <a href="/admin" aria-current={span === "hour" ? "true" : undefined}>Hour</a>
            <a href="/admin?span=day" aria-current={span === "day" ? "true" : undefined}>Day</a>
          </nav>
        </div>
        <Chart series={series} span={span} />
      </section>
      <Lanes lanes={status.lanes} nowMs={live.nowMs} />
    </>
  );
}

function Figures({ status, nowMs }: { status: StatusView; nowMs: number }) {
  const { counts, oldestPendingAt } = status;
  const { pending, inFlight, dead, countedUpTo, lastHour } = counts;
  return (
    <dl class="figures">
      <Figure name="waiting" href="/admin/deliveries?state=pending">
        {countUpTo(pending, countedUpTo)}
      </Figure>
      <Figure name="in flight" href="/admin/deliveries?state=in_flight">
        {countUpTo(inFlight, countedUpTo)}
      </Figure>
      <Figure name="dead letters" href="/admin/dead-letters" bad={dead > 0}>
        {countUpTo(dead, countedUpTo)}
      </Figure>
      <Figure name="duplicates, last hour">{count(lastHour.duplicate)}</Figure>
      <Figure name="oldest waiting">
        {oldestPendingAt === undefined ? "–" : <Time at={oldestPendingAt} nowMs={nowMs} />}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  name: string;
  href?: string;
  bad?: boolean;
  children: preact.ComponentChildren;
}

function Figure({ name, href, bad, children }: FigureProps) {
  return (
    <div class={bad ? "bad" : undefined}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Lanes({ lanes, nowMs }: { lanes: LaneView[]; nowMs: number }) {
  if (lanes.length === 0) {
    return (
      <p class="empty">
        No endpoint is configured. <a href="/admin/endpoints">How to write one</a>
      </p>
    );
  }
  return (
    <section class="card">
      <h2>Lanes</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Lanes">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Health</th>
              <th scope="col" class="n">Waiting</th>
              <th scope="col" class="n">In flight</th>
              <th scope="col" class="n">Dead</th>
              <th scope="col" class="n">Delivered, hour</th>
              <th scope="col">Oldest waiting</th>
            </tr>
          </thead>
          <tbody>
            {lanes.map((lane) => <LaneRow key={lane.endpoint} lane={lane} nowMs={nowMs} />)}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function LaneRow({ lane, nowMs }: { lane: LaneView; nowMs: number }) {
  const { endpoint, counts, oldestPendingAt, blockedBy } = lane;
  const most = counts.countedUpTo;
  return (
    <tr>
      <th scope="row">
        <a href={`/admin/endpoints/${endpoint}`}>{endpoint}</a>
      </th>
      <td>
        <FateBadges {...lane} nowMs={nowMs} />{" "}
        {blockedBy !== undefined && (
          <a class="badge warn" href={`/admin/deliveries/${blockedBy.deliveryId}`}>blocked head</a>
        )}
      </td>
      <td class="n">{countUpTo(counts.pending, most)}</td>
      <td class="n">{countUpTo(counts.inFlight, most)}</td>
      <td class="n">{countUpTo(counts.dead, most)}</td>
      <td class="n">{count(counts.lastHour.delivered)}</td>
      <td>{oldestPendingAt === undefined ? "–" : <Time at={oldestPendingAt} nowMs={nowMs} />}</td>
    </tr>
  );
}
