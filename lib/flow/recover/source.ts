import type { Endpoint } from "../../endpoint.ts";
import type { GithubSettings } from "../../github_settings.ts";

/** How to prove who asks. */
export type Credentials = { appId: string; privateKey: string } | { token: string };

/** A hook at GitHub whose history is watched, and the endpoint that receives it. */
export interface Source {
  endpoint: string;
  /** `app`, `octo/repo`, `octo`: what owns the hook, for people. */
  kind: "app" | "repo" | "org";
  owner?: string;
  /** Where the hook's deliveries are listed; `/ID` and `/ID/attempts` follow. */
  deliveriesPath: string;
  /** What is read to see how the hook is set up. */
  setupPaths: { hook: string; app?: string };
  credentials: Credentials;
  /** Events it should be subscribed to. */
  events: readonly string[];
}

/** The hooks to watch, from the configuration. */
export function sourcesOf(endpoints: Iterable<Endpoint>, { app }: GithubSettings): Source[] {
  return [...endpoints].flatMap(({ id, github }): Source[] => {
    if (github === undefined) return [];
    const events = github.events ?? [];
    if (!("app" in github)) return [{ endpoint: id, events, ...hookSource(github) }];
    if (app === undefined) return [];
    return [{
      endpoint: id,
      events,
      kind: "app",
      deliveriesPath: "/app/hook/deliveries",
      setupPaths: { hook: "/app/hook/config", app: "/app" },
      credentials: { appId: app.id, privateKey: app.privateKey },
    }];
  });
}

type HookSettings = Exclude<NonNullable<Endpoint["github"]>, { app: true }>;

function hookSource({ repo, org, hookId, token }: HookSettings) {
  const kind = repo === undefined ? "org" : "repo";
  const owner = repo ?? org ?? "";
  const name = owner.split("/").map(encodeURIComponent).join("/");
  const hook = `/${kind}s/${name}/hooks/${hookId}`;
  return {
    kind,
    owner,
    deliveriesPath: `${hook}/deliveries`,
    setupPaths: { hook },
    credentials: { token },
  } satisfies Partial<Source>;
}
