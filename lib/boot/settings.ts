import { type Config, type Env, parseConfig } from "../config.ts";
import { PROVIDERS, senderFaults, senderWarnings } from "../verify/sender.ts";
import { DEV_DIR, devSettings, serveDevTarget } from "./dev.ts";
import { startWarnings } from "./start_warnings.ts";

const ENDPOINTS_FILE = "endpoints.json";

/** Reads all settings, or says every fault and ends the program with 1. */
export async function readSettings(dev: boolean): Promise<Config> {
  let env: Env = Deno.env.toObject();
  const file = readEndpointsFile(env);
  if (dev) env = await devEnvironment(env, file !== undefined);
  const config = parseConfig({
    env,
    endpointsFile: file,
    providers: PROVIDERS,
    defaultHost: dev ? "127.0.0.1" : "0.0.0.0",
  });
  if ("faults" in config) return fail(config.faults);
  const faults = [...config.endpoints.values()].flatMap((endpoint) =>
    senderFaults(endpoint).map((fault) => `cannot use endpoint "${endpoint.id}": ${fault}`)
  );
  const relayMode = config.relay === undefined ? [] : [config.relay.endpoint];
  faults.push(...relayMode.flatMap(senderFaults).map((fault) => `cannot use relay mode: ${fault}`));
  if (faults.length > 0) return fail(faults);
  const warnings = [...config.endpoints.values()].flatMap((endpoint) =>
    senderWarnings(endpoint).map((warning) => `endpoint "${endpoint.id}": ${warning}`)
  );
  warnings.push(...relayMode.flatMap(senderWarnings).map((warning) => `relay mode: ${warning}`));
  warnings.push(...await startWarnings(config));
  return { ...config, warnings: [...config.warnings, ...warnings] };
}

/** Says what is wrong and ends the program with 1. */
export function fail(lines: readonly string[]): never {
  for (const line of lines) console.error(line);
  Deno.exit(1);
}

function readEndpointsFile(env: Env): { path: string; text: string } | undefined {
  if (env.ENDPOINTS?.trim()) return undefined;
  const path = env.ENDPOINTS_FILE || ENDPOINTS_FILE;
  try {
    return { path, text: Deno.readTextFileSync(path) };
  } catch (error) {
    const absent = error instanceof Deno.errors.NotFound && !env.ENDPOINTS_FILE;
    return absent
      ? undefined
      : fail([`cannot read endpoints: ENDPOINTS_FILE is ${path}: ${(error as Error).message}`]);
  }
}

async function devEnvironment(env: Env, hasFile: boolean): Promise<Env> {
  const given = hasFile || Boolean(env.ENDPOINTS);
  const target = given ? undefined : serveDevTarget((line) => console.log(line));
  const url = target === undefined ? "" : `http://127.0.0.1:${target.addr.port}/`;
  return devSettings(env, await devToken(), given, { url });
}

/** The token of the last run, so that an open page and a shell's history stay good. */
async function devToken(): Promise<string> {
  const path = `${DEV_DIR}/admin-token`;
  try {
    return Deno.readTextFileSync(path).trim();
  } catch {
    const token = crypto.randomUUID().replaceAll("-", "");
    await Deno.mkdir(DEV_DIR, { recursive: true });
    Deno.writeTextFileSync(path, `${token}\n`, { mode: 0o600 });
    return token;
  }
}
