import { quantile, shown } from "../numbers.ts";
import type { Options } from "../options.ts";
import type { Report } from "../report.ts";
import { fillStore } from "../stored.ts";
import { startSubject } from "../subjects.ts";
import { inFolder } from "../workspace.ts";

const TOKEN = "operator-of-the-benchmark";
const DEAD_EVERY = 20;
const WARM_UP_READS = 20;
const READS = 100;

interface Reads {
  path: string;
  /** From the request to the last byte of the page, sorted. */
  tookMs: Float64Array;
}

/** How long pages for operators take with many deliveries in the store. */
export async function admin({ kept, flags }: Options): Promise<Report> {
  const found = await inFolder(async (folder) => {
    const id = await fillStore(folder, kept, DEAD_EVERY);
    await using subject = await startSubject("holdfast", {
      ...{ sinkPort: 1, folder, flags },
      env: { ADMIN_TOKEN: TOKEN },
    });
    return await readPages(`http://127.0.0.1:${subject.port}`, id);
  });
  const slowest = Math.max(...found.map(({ tookMs }) => quantile(tookMs, 0.9)));
  return {
    title: `Pages for operators, ${shown(kept)} deliveries stored`,
    columns: ["page", "median ms", "p90 ms"],
    rows: found.map(({ path, tookMs }) => [
      path,
      ...[0.5, 0.9].map((share) => shown(quantile(tookMs, share))),
    ]),
    verdicts: [{
      what: `p90 of the slowest page with ${shown(kept)} stored`,
      value: slowest,
      bound: "≤",
      target: 100,
      unit: "ms",
    }],
  };
}

/** Reads each page many times, one request after the other. */
async function readPages(origin: string, id: string): Promise<Reads[]> {
  const cookie = await signIn(origin);
  const pages: Record<string, string> = {
    "/admin": "/admin",
    "/admin/deliveries": "/admin/deliveries",
    "/admin/deliveries?state=dead": "/admin/deliveries?state=dead",
    "/admin/dead-letters": "/admin/dead-letters",
    "/admin/deliveries/:id": `/admin/deliveries/${id}`,
  };
  const found: Reads[] = [];
  for (const [path, address] of Object.entries(pages)) {
    const read = () => readMs(origin + address, cookie);
    for (let n = 0; n < WARM_UP_READS; n++) await read();
    const tookMs = new Float64Array(READS);
    for (let n = 0; n < READS; n++) tookMs[n] = await read();
    found.push({ path, tookMs: tookMs.sort() });
  }
  return found;
}

async function signIn(origin: string): Promise<string> {
  const response = await fetch(`${origin}/admin/sign-in`, {
    method: "POST",
    headers: { origin, accept: "text/html" },
    body: new URLSearchParams({ token: TOKEN }),
    redirect: "manual",
  });
  await response.body?.cancel();
  if (response.status !== 303) throw new Error(`cannot sign in: status is ${response.status}`);
  return response.headers.getSetCookie()[0].split(";")[0];
}

async function readMs(address: string, cookie: string): Promise<number> {
  const sinceMs = performance.now();
  const response = await fetch(address, { headers: { cookie, accept: "text/html" } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`cannot read ${address}: status is ${response.status}`);
  return performance.now() - sinceMs;
}
