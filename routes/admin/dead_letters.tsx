import { Hono } from "hono";
import { StateBadge } from "../../islands/badges.tsx";
import { count, countUpTo, short, Time, visible } from "../../islands/format.tsx";
import type { DeliveryView, JobView } from "../../islands/views.ts";
import { deadLettersByReason } from "../../lib/flow/operate/history.ts";
import { replay } from "../../lib/flow/operate/deliveries.ts";
import { latestReplays } from "../../lib/flow/operate/replays.ts";
import { problem } from "../../lib/errors.ts";
import { COUNTED_UP_TO } from "../../lib/store/counts.ts";
import type { DeadGroup } from "../../lib/store/dead_groups.ts";
import { listingOf, pageOf } from "../operator/deliveries.ts";
import { deadReason } from "../operator/query.ts";
import { jobShape } from "../operator/replays.ts";
import type { AdminContext, AdminEnv, AdminParts } from "./context.ts";
import { type Filters, listHref, readFilters, Select, TimeSpan } from "./filters.tsx";
import { formOf } from "./form.ts";
import { CsrfField, page, problemPage } from "./layout.tsx";

const PATH = "/admin/dead-letters";
const JOBS_SHOWN = 5;

/** `/admin/dead-letters`: what stopped trying, by endpoint and reason, and ways to send it again. */
export function deadLetterPages(parts: AdminParts): Hono<AdminEnv> {
  const { relay } = parts;
  const app = new Hono<AdminEnv>();
  app.get("/", async (context) => {
    const filters = readFilters(context.req.query(), { state: "dead" });
    const [groups, jobs, found] = await Promise.all([
      deadLettersByReason(relay),
      latestReplays(relay),
      filters.query ? pageOf(relay, listingOf(filters.query)) : undefined,
    ]);
    const fault = filters.fault ?? (found && "code" in found ? found.detail : undefined);
    const items = found === undefined || "code" in found ? [] : found.items;
    const next = found === undefined || "code" in found ? null : found.cursor;
    const nowMs = relay.clock.nowMs();
    return page(
      context,
      { title: "Dead letters", status: fault === undefined ? 200 : 400 },
      <>
        <h1>Dead letters</h1>
        {fault !== undefined && <p class="fault" role="alert">{fault}</p>}
        <Groups groups={groups} nowMs={nowMs} />
        <FilterForm filters={filters} endpoints={[...new Set(groups.map((g) => g.endpoint))]} />
        <Chosen context={context} filters={filters} items={items} next={next} nowMs={nowMs} />
        <Jobs jobs={jobs.slice(0, JOBS_SHOWN).map(jobShape)} nowMs={nowMs} />
      </>,
    );
  });

  app.post("/replay", async (context) => {
    const { id = [] } = await formOf(context, { all: true });
    const ids = [id].flat().filter((one) => typeof one === "string");
    if (ids.length === 0) {
      return problemPage(context, problem("bad_parameter", "cannot replay: nothing is chosen"));
    }
    const results = await Promise.all(ids.map((one) => replay(relay, one)));
    const failed = results.filter((result) => "code" in result);
    return page(context, { title: "Replayed" }, <Replayed ids={ids} failed={failed.length} />);
  });
  return app;
}

function Groups({ groups, nowMs }: { groups: DeadGroup[]; nowMs: number }) {
  if (groups.length === 0) {
    return (
      <p class="calm">No dead letters: everything that was accepted got through or is trying.</p>
    );
  }
  return (
    <section class="card">
      <div class="title">
        <h2>By endpoint and reason</h2>
        <a href="/docs/guide/operating#dead-letters">What the reasons mean</a>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Groups of dead letters">
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Reason</th>
              <th scope="col" class="n">Count</th>
              <th scope="col">Newest</th>
              <th scope="col">Send again</th>
            </tr>
          </thead>
          <tbody>
            {groups.map(({ endpoint, reason, count, newestAtMs }) => {
              const query = new URLSearchParams({ endpoint, reason });
              return (
                <tr key={`${endpoint} ${reason}`}>
                  <th scope="row">
                    <a href={`${PATH}?${query}`}>{endpoint}</a>
                  </th>
                  <td>
                    <StateBadge state="dead" reason={reason} />
                  </td>
                  <td class="n">{countUpTo(count, COUNTED_UP_TO)}</td>
                  <td>
                    <Time at={new Date(newestAtMs).toISOString()} nowMs={nowMs} />
                  </td>
                  <td>
                    <a
                      href={`/admin/replays/new?${query}`}
                      aria-label={`Replay all ${reason} of ${endpoint}`}
                    >
                      Replay all…
                    </a>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function FilterForm({ filters: { given }, endpoints }: { filters: Filters; endpoints: string[] }) {
  return (
    <form class="filters" method="get" action={PATH} role="search" aria-label="Filter dead letters">
      <Select name="endpoint" label="Endpoint" value={given.endpoint} options={endpoints} />
      <Select name="reason" label="Reason" value={given.reason} options={deadReason.options} />
      <TimeSpan since={given.since} until={given.until} />
      <span class="buttons">
        <button type="submit" class="primary">Filter</button>
        <button type="submit" formaction="/admin/replays/new">Replay all that fit…</button>
        <a class="button" href={PATH}>Clear</a>
      </span>
    </form>
  );
}

interface ChosenProps {
  context: AdminContext;
  filters: Filters;
  items: DeliveryView[];
  next: string | null;
  nowMs: number;
}

/** Rows to tick; what is ticked is replayed at once, without a job. */
function Chosen({ context, filters, items, next, nowMs }: ChosenProps) {
  if (items.length === 0) return null;
  return (
    <form method="post" action={`${PATH}/replay`} class="card">
      <CsrfField context={context} />
      <div class="title">
        <h2>Letters</h2>
        <button type="submit">Replay chosen</button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Dead letters">
        <table class="deliveries">
          <thead>
            <tr>
              <td>
                <input type="checkbox" data-tick-all hidden aria-label="Choose all on this page" />
              </td>
              <th scope="col">Event id</th>
              <th scope="col">Endpoint</th>
              <th scope="col">Reason</th>
              <th scope="col" class="n">Attempts</th>
              <th scope="col">Last answer</th>
              <th scope="col">Accepted</th>
            </tr>
          </thead>
          <tbody>{items.map((item) => <Letter key={item.id} item={item} nowMs={nowMs} />)}</tbody>
        </table>
      </div>
      {next !== null && (
        <nav class="pager" aria-label="Places in the list">
          <a class="button" href={listHref(PATH, filters, next)}>Older</a>
        </nav>
      )}
    </form>
  );
}

function Letter({ item, nowMs }: { item: DeliveryView; nowMs: number }) {
  const { id, eventId, endpoint, state, reason, attemptCount, attempts, acceptedAt } = item;
  const name = short(visible(eventId));
  const last = attempts.at(-1);
  return (
    <tr>
      <td>
        <input type="checkbox" name="id" value={id} aria-label={`Choose ${name}`} />
      </td>
      <th scope="row">
        <a href={`/admin/deliveries/${id}`} title={visible(eventId)}>{name}</a>
      </th>
      <td>{endpoint}</td>
      <td>
        <StateBadge state={state} reason={reason} />
      </td>
      <td class="n">{attemptCount}</td>
      <td>{last?.status ?? last?.code ?? "–"}</td>
      <td>
        <Time at={acceptedAt} nowMs={nowMs} />
      </td>
    </tr>
  );
}

function Jobs({ jobs, nowMs }: { jobs: JobView[]; nowMs: number }) {
  if (jobs.length === 0) return null;
  return (
    <section class="card">
      <h2>Latest replays</h2>
      <ul class="jobs">
        {jobs.map(({ id, state, done, total, createdAt, filter }) => (
          <li key={id}>
            <a href={`/admin/replays/${id}`}>
              {filter.endpoint ?? "all endpoints"}
              {filter.reason === undefined ? "" : `, ${filter.reason}`}
            </a>
            <span>{state}</span>
            <span>{count(done)} of {count(total)}</span>
            <Time at={createdAt} nowMs={nowMs} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Replayed({ ids, failed }: { ids: string[]; failed: number }) {
  return (
    <section class="card narrow">
      <h1>Sent again</h1>
      <p role="status">
        {count(ids.length - failed)} of {count(ids.length)} are on their way.
        {failed > 0 && ` ${count(failed)} had changed or were no longer there.`}
      </p>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <a href={`/admin/deliveries/${encodeURIComponent(id)}`}>
              <code>{short(id)}</code>
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a href={PATH}>Back to the dead letters</a>
      </p>
    </section>
  );
}
