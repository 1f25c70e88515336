import { Hono } from "hono";
import { count, Time } from "../../islands/format.tsx";
import { watchShape } from "../operator/github.ts";
import type { AdminEnv, AdminParts } from "./context.ts";
import { CsrfField, page } from "./layout.tsx";

type Watch = ReturnType<typeof watchShape>;

/** `/admin/github`: the watched hooks, what never arrived, and the order to look again. */
export function githubPage({ relay }: AdminParts): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();

  app.get("/", async (context) => {
    const watches = (await relay.github.views()).map(watchShape);
    const nowMs = relay.clock.nowMs();
    return page(
      context,
      { title: "GitHub" },
      <>
        <h1>GitHub</h1>
        {watches.length === 0
          ? (
            <p class="empty">
              No hook is watched. Set <code>github</code> on the endpoint that receives it.
            </p>
          )
          : (
            <form method="post" action="/admin/github/repair" class="buttons">
              <CsrfField context={context} />
              <button type="submit">Look at the history now</button>
            </form>
          )}
        {watches.map((watch) => <Hook key={watch.endpoint} watch={watch} nowMs={nowMs} />)}
      </>,
    );
  });

  app.post("/repair", async (context) => {
    if (relay.github.isConfigured) await relay.github.repairNow();
    return context.redirect("/admin/github", 303);
  });
  return app;
}

function Hook({ watch, nowMs }: { watch: Watch; nowMs: number }) {
  const { endpoint, checkedAt, repaired, repairing, open, trouble, setup, findings } = watch;
  return (
    <section class="card">
      <h2>{endpoint}</h2>
      {trouble !== undefined && <p role="alert">{trouble.detail}</p>}
      <p>
        History read {checkedAt === undefined ? "not yet" : <Time at={checkedAt} nowMs={nowMs} />}.
        {" "}
        {count(repaired)} repaired, {count(repairing)} asked for again, {count(open)} given up.
      </p>
      <p>
        Set-up: {setup.state}
        {setup.checkedAt !== undefined && (
          <>
            , checked <Time at={setup.checkedAt} nowMs={nowMs} />
          </>
        )}
      </p>
      {setup.drifts.length > 0 && (
        <ul>{setup.drifts.map(({ detail }) => <li key={detail}>{detail}</li>)}</ul>
      )}
      {findings.length > 0 && <Findings findings={findings} nowMs={nowMs} />}
    </section>
  );
}

function Findings({ findings, nowMs }: { findings: Watch["findings"]; nowMs: number }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Missing events">
      <table>
        <thead>
          <tr>
            <th scope="col">Event id</th>
            <th scope="col">Event</th>
            <th scope="col">What</th>
            <th scope="col" class="n">Tries</th>
            <th scope="col">State</th>
            <th scope="col">Found</th>
          </tr>
        </thead>
        <tbody>
          {findings.map((finding) => (
            <tr key={finding.guid}>
              <th scope="row">
                <code>{finding.guid}</code>
              </th>
              <td>{finding.event}</td>
              <td>{finding.kind}</td>
              <td class="n">{finding.tries}</td>
              <td>{finding.state}</td>
              <td>{finding.foundAt && <Time at={finding.foundAt} nowMs={nowMs} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
