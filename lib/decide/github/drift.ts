import type { Trouble } from "./answer.ts";
import { permissionsFor, UNSUBSCRIBED } from "./permissions.ts";

/** What is set up at GitHub otherwise than it should be. */
export type DriftKind =
  | "missing_event"
  | "missing_permission"
  | "delivery_url"
  | "content_type"
  | "secret_missing"
  | "inactive"
  | "unreadable";

export interface Drift {
  kind: DriftKind;
  detail: string;
}

/** How the hook should be set up. */
export interface ExpectedHook {
  endpoint: string;
  publicUrl?: string;
  events: readonly string[];
}

/** How it is set up; what GitHub did not tell is absent. */
export interface SeenHook {
  events: readonly string[];
  /** An App's; a hook of a repository or an organisation has none. */
  permissions?: Readonly<Record<string, unknown>>;
  url?: string;
  contentType?: string;
  hasSecret: boolean;
  active: boolean;
}

/**
 * Reads how a hook is set up: an App's from `/app/hook/config` and `/app`, any other from
 * the hook itself, which holds its configuration in `config` (docs.github.com, REST API).
 */
export function readSetup(hook: unknown, app: unknown): SeenHook {
  const own = fields(hook);
  const config = app === undefined ? fields(own.config) : own;
  const { events, permissions } = app === undefined ? own : fields(app);
  return {
    events: Array.isArray(events) ? events.filter((event) => typeof event === "string") : [],
    permissions: app === undefined ? undefined : fields(permissions),
    url: typeof config.url === "string" ? config.url : undefined,
    contentType: typeof config.content_type === "string" ? config.content_type : undefined,
    hasSecret: typeof config.secret === "string" && config.secret !== "",
    active: app !== undefined || own.active !== false,
  };
}

const fields = (data: unknown): Record<string, unknown> =>
  data !== null && typeof data === "object" ? data as Record<string, unknown> : {};

/** Everything that differs, in the words of what to do about it. */
export function driftsOf(expected: ExpectedHook, seen: SeenHook): Drift[] {
  const { endpoint } = expected;
  const drifts = expected.events.flatMap((event) => eventDrifts(event, seen));
  if (!seen.active) add("inactive", "the hook is switched off: GitHub delivers nothing");
  if (!isDeliveryUrl(seen.url, expected)) {
    const wanted = `${expected.publicUrl ?? ""}/hook/${endpoint}`;
    add("delivery_url", `the delivery URL is ${shownUrl(seen.url)}, not ${wanted}`);
  }
  if (seen.contentType !== "json") {
    add("content_type", `the content type is ${seen.contentType ?? "not set"}, not json`);
  }
  if (!seen.hasSecret) add("secret_missing", "the hook has no secret: deliveries are not signed");
  return drifts;

  function add(kind: DriftKind, detail: string): void {
    drifts.push({ kind, detail });
  }
}

function eventDrifts(event: string, { events, permissions }: SeenHook): Drift[] {
  if (UNSUBSCRIBED.has(event)) return [];
  const drifts: Drift[] = [];
  const needed = permissionsFor(event);
  const named = needed.join(" or ");
  if (!events.includes(event) && !events.includes("*")) {
    const gate = named === "" || permissions === undefined ? "" : ` (permission: ${named})`;
    drifts.push({ kind: "missing_event", detail: `the event ${event} is not subscribed${gate}` });
  }
  if (permissions !== undefined && needed.length > 0 && !needed.some((n) => permissions[n])) {
    const detail = `the permission ${named} is missing, which the event ${event} needs`;
    drifts.push({ kind: "missing_permission", detail });
  }
  return drifts;
}

/** Whether a URL is the endpoint's own; without a public URL its path has to do. */
export function isDeliveryUrl(
  text: string | undefined,
  { endpoint, publicUrl }: Pick<ExpectedHook, "endpoint" | "publicUrl">,
): boolean {
  if (text === undefined || !URL.canParse(text)) return false;
  const { origin, pathname } = new URL(text);
  const path = `/hook/${endpoint}`;
  const isHere = publicUrl === undefined || origin === publicUrl;
  return isHere && (pathname === path || pathname.startsWith(`${path}/`));
}

/** Origin and path: a query may hold a credential. */
function shownUrl(text: string | undefined): string {
  if (text === undefined || text === "") return "not set";
  return URL.canParse(text) ? new URL(text).origin + new URL(text).pathname : "not a URL";
}

/** A setup that could not be read although GitHub answered. */
export function unreadable({ kind, status }: Trouble): Drift {
  const why = kind === "credentials"
    ? "GitHub refuses the credentials"
    : kind === "permission"
    ? "the credentials lack a permission"
    : "GitHub does not find it";
  return { kind: "unreadable", detail: `the setup cannot be read: ${why} (status ${status})` };
}
