/**
 * The permission, by its name in the API, that lets an App subscribe to an event; read
 * access is enough (docs.github.com, "Webhook events and payloads"). Either of two will do
 * where two are named.
 */
const BY_PERMISSION: Readonly<Record<string, string>> = {
  actions: "workflow_job workflow_run",
  administration: "branch_protection_configuration branch_protection_rule security_and_analysis",
  checks: "check_run check_suite",
  contents: "commit_comment create delete fork gollum push release repository_dispatch " +
    "workflow_dispatch",
  deployments: "deploy_key deployment deployment_protection_rule deployment_review " +
    "deployment_status",
  discussions: "discussion discussion_comment",
  issues: "issue_comment issues sub_issues",
  "issues|pull_requests": "milestone",
  members: "member membership organization team team_add",
  merge_queues: "merge_group",
  metadata: "label public repository star watch",
  organization_administration: "org_block",
  organization_personal_access_token_requests: "personal_access_token_request",
  organization_projects: "projects_v2 projects_v2_item projects_v2_status_update",
  packages: "package registry_package",
  pages: "page_build",
  pull_requests: "pull_request pull_request_review pull_request_review_comment " +
    "pull_request_review_thread",
  repository_advisories: "repository_advisory",
  "repository_projects|organization_projects": "project project_card project_column",
  secret_scanning_alerts: "secret_scanning_alert secret_scanning_alert_location " +
    "secret_scanning_scan",
  security_events: "code_scanning_alert",
  statuses: "status",
  vulnerability_alerts: "dependabot_alert",
};

const PERMISSIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(BY_PERMISSION).flatMap(([permissions, events]) =>
    events.split(" ").map((event) => [event, permissions.split("|")] as const)
  ),
);

/** The permissions of which an App needs one for the event; empty where none is known. */
export function permissionsFor(event: string): readonly string[] {
  return PERMISSIONS.get(event) ?? [];
}

/** Events that every App gets and none subscribes to. */
export const UNSUBSCRIBED: ReadonlySet<string> = new Set([
  "github_app_authorization",
  "installation",
  "installation_repositories",
  "installation_target",
  "ping",
]);
