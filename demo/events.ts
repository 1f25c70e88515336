import examples from "@octokit/webhooks-examples/api.github.com/index.json" with { type: "json" };

/** One event as GitHub would send it. */
export interface GitHubEvent {
  name: string;
  guid: string;
  body: string;
}

const SHOWN = [
  ...["push", "pull_request", "issues", "issue_comment", "check_run"],
  ...["release", "workflow_run", "star", "deployment_status", "installation"],
];

/** Ten real payloads of ten kinds, each with a delivery id of its own. */
export function tenEvents(): GitHubEvent[] {
  const byName = new Map(
    (examples as { name: string; examples: unknown[] }[]).map((e) => [e.name, e.examples]),
  );
  return SHOWN.map((name) => ({
    name,
    guid: crypto.randomUUID(),
    body: JSON.stringify(byName.get(name)?.[0] ?? {}),
  }));
}
