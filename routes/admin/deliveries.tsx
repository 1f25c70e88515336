import { Hono } from "hono";
import { DeliveryTable } from "../../islands/deliveries.tsx";
import { listingOf, pageOf } from "../operator/deliveries.ts";
import { deadReason, deliveryState } from "../operator/query.ts";
import { type AdminEnv, type AdminParts, originOf } from "./context.ts";
import { apiQuery, type Filters, listHref, readFilters, Select, TimeSpan } from "./filters.tsx";
import { Island } from "./island.tsx";
import { page } from "./layout.tsx";

type Found = Exclude<Awaited<ReturnType<typeof pageOf>>, { code: unknown }>;

const NOTHING: Found = { items: [], cursor: null };
const PATH = "/admin/deliveries";

/** `/admin/deliveries`: newest first, live on the first page. */
export function deliveryPages(parts: AdminParts): Hono<AdminEnv> {
  const { relay } = parts;
  const app = new Hono<AdminEnv>();
  app.get("/", async (context) => {
    const filters = readFilters(context.req.query());
    const found = filters.query ? await pageOf(relay, listingOf(filters.query)) : NOTHING;
    const fault = filters.fault ?? ("code" in found ? found.detail : undefined);
    const shown = "code" in found ? NOTHING : found;
    const nowMs = relay.clock.nowMs();
    const isFirst = filters.given.cursor === undefined;
    const { endpoint } = filters.given;
    return page(
      context,
      { title: "Deliveries", status: fault === undefined ? 200 : 400 },
      <>
        <h1>Deliveries</h1>
        <FilterForm filters={filters} endpoints={[...relay.endpoints.keys()]} />
        {fault !== undefined && <p class="fault" role="alert">{fault}</p>}
        {isFirst && fault === undefined
          ? (
            <Island
              name="Deliveries"
              props={{ page: shown, query: apiQuery(filters), endpoint, nowMs }}
            />
          )
          : (
            <section class="card">
              <DeliveryTable items={shown.items} nowMs={nowMs} />
            </section>
          )}
        {shown.items.length === 0 && fault === undefined && (
          <Next origin={originOf(parts, context)} endpoint={endpoint ?? firstOf(relay.endpoints)} />
        )}
        <Pager filters={filters} next={shown.cursor} />
      </>,
    );
  });
  return app;
}

const firstOf = (endpoints: ReadonlyMap<string, unknown>) => endpoints.keys().next().value;

function FilterForm({ filters: { given }, endpoints }: { filters: Filters; endpoints: string[] }) {
  return (
    <form class="filters" method="get" action={PATH} role="search" aria-label="Filter deliveries">
      <Select name="endpoint" label="Endpoint" value={given.endpoint} options={endpoints} />
      <Select name="state" label="State" value={given.state} options={deliveryState.options} />
      <Select name="reason" label="Reason" value={given.reason} options={deadReason.options} />
      <label>
        Event id
        <input type="search" name="event_id" value={given.event_id} autocomplete="off" />
      </label>
      <TimeSpan since={given.since} until={given.until} />
      <span class="buttons">
        <button type="submit" class="primary">Filter</button>
        <a class="button" href={PATH}>Clear</a>
      </span>
    </form>
  );
}

/** What to do where there is nothing to see. */
export function Next({ origin, endpoint }: { origin: string; endpoint?: string }) {
  if (endpoint === undefined) {
    return (
      <p class="note">
        Configure an endpoint in <code>ENDPOINTS</code> or <code>endpoints.json</code> first.
      </p>
    );
  }
  const text =
    `curl -i ${origin}/hook/${endpoint} -H 'content-type: application/json' -d '{"hello":"holdfast"}'`;
  return (
    <section class="card">
      <p>Send something:</p>
      <Island name="Copy" props={{ text, label: "Command that sends a request" }} />
    </section>
  );
}

function Pager({ filters, next }: { filters: Filters; next: string | null }) {
  const isFirst = filters.given.cursor === undefined;
  if (isFirst && next === null) return null;
  return (
    <nav class="pager" aria-label="Places in the list">
      {!isFirst && <a class="button" href={listHref(PATH, filters)}>Newest</a>}
      {next !== null && <a class="button" href={listHref(PATH, filters, next)}>Older</a>}
    </nav>
  );
}
