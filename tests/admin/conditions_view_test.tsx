import assert from "node:assert/strict";
import { renderToString } from "preact-render-to-string";
import { Conditions } from "../../islands/conditions.tsx";
import type { StatusView } from "../../islands/views.ts";

type Condition = StatusView["conditions"][number];

const NOW_MS = Date.parse("2026-05-14T03:00:00Z");

const shown = (condition: Partial<Condition>) =>
  renderToString(
    <Conditions
      conditions={[{
        type: "breaker_open",
        severity: "warning",
        since: "2026-05-14T02:40:00.000Z",
        count: 60,
        subject: "billing",
        detail: "no connection to the target",
        ...condition,
      }]}
      countedUpTo={10_000}
      nowMs={NOW_MS}
    />,
  );

Deno.test("a condition leads to its endpoint, its deliveries and the page on what to do", () => {
  const html = shown({});
  assert.match(html, /href="\/admin\/endpoints\/billing"/);
  assert.match(
    html,
    /href="\/admin\/deliveries\?endpoint=billing&amp;state=pending">60 waiting</,
  );
  assert.match(html, /href="\/docs\/guide\/operating#conditions"/);
  assert.match(html, />20 min ago</);
});

for (
  const [what, condition, wanted, unwanted] of [
    [
      "dead letters lead to the dead",
      { type: "dead_letters" },
      /\/admin\/dead-letters\?endpoint=billing">60 dead</,
      /waiting/,
    ],
    [
      "a count that ended early says so",
      { count: 10_000 },
      />10,000\+ waiting</,
      />10,000 waiting</,
    ],
    [
      "an endpoint that left the configuration has no page",
      { type: "endpoint_removed" },
      /60 waiting/,
      /\/admin\/endpoints\//,
    ],
    [
      "a hook's set-up leads to the page of hooks",
      { type: "app_config_drift" },
      /\/admin\/github"/,
      /60/,
    ],
    [
      "what counts no deliveries shows no number",
      { type: "endpoint_failing" },
      /billing/,
      /60/,
    ],
  ] as const
) {
  Deno.test(`conditions: ${what}`, () => {
    const html = shown(condition);
    assert.match(html, wanted);
    assert.doesNotMatch(html, unwanted);
  });
}
