import assert from "node:assert/strict";
import { StandInGithub } from "../helpers/github.ts";
import { group, test } from "../helpers/group.ts";
import { type Relay, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { until } from "../helpers/wait.ts";
import { firstPass, startAppRelay, type Watch, watch } from "../recover/app_setup.ts";
import { strangersKey } from "../recover/harness.ts";
import { csrfOf, html, Jar, signedIn } from "./jar.ts";

const PAGE = "/admin/github";

/** Presses the page's button. */
const look = async (jar: Jar): Promise<Response> =>
  await jar.post(`${PAGE}/repair`, { csrf: await csrfOf(jar, PAGE) });

/** Presses it again and again until the watch is as wanted: GitHub's history has a grace time. */
const lookUntil = (jar: Jar, relay: Relay, isDone: (watch: Watch) => boolean) =>
  until(async () => (await look(jar)).status === 303 && isDone(await watch(relay)), {
    withinMs: 20_000,
    what: () => `a look to end as wanted\n${relay.output}`,
  });

/** Waits until the page shows something; returns the page. */
const shown = (jar: Jar, what: RegExp) =>
  until(async () => {
    const text = await html(jar, PAGE);
    return what.test(text) ? text : undefined;
  }, { withinMs: 20_000, what: () => `${PAGE} to show ${what}` });

group("the page of watched hooks", async (behaviour) => {
  await using sink = startSink();
  await using github = new StandInGithub({ events: ["push"] });
  await using relay = await startAppRelay(sink, github, {
    endpoint: { github: { app: true, events: ["push", "issues"] } },
  });
  const jar = await signedIn(relay);
  await firstPass(relay);

  await behaviour("nobody sees it without signing in", async () => {
    const response = await new Jar(relay.origin).fetch(PAGE);
    assert(!(await response.text()).includes("History read"));
    assert.equal(response.status, 303);
    assert.match(response.headers.get("location")!, /^\/admin\/sign-in/);
  });

  await behaviour("it names the endpoint, and what is set up in another way", async () => {
    const text = await html(jar, PAGE);
    assert.match(text, /<h2>gh<\/h2>/);
    assert.match(text, /Set-up: drift/);
    assert.match(text, /<li>[^<]*issues[^<]*<\/li>/);
  });

  await behaviour("a look without the form's own token is refused", async () => {
    const response = await jar.post(`${PAGE}/repair`, { csrf: "guessed" });
    assert.equal(response.status, 403);
  });

  await behaviour("what never arrived is shown as text, however it is named", async () => {
    github.redeliveryFate = "fail";
    const guid = await github.deliver("fail");
    github.rows.at(-1)!.event = "<b>issues</b>";
    await lookUntil(jar, relay, ({ repairing }) => repairing > 0);
    const text = await shown(jar, new RegExp(guid));
    assert.match(text, /remote_failure/);
    assert.match(text, /&lt;b>issues/);
    assert(!text.includes("<b>issues"));
  });

  await behaviour("a look brings what is missing, and the page counts it", async () => {
    github.redeliveryFate = "send";
    const guid = await github.deliver("fail");
    const came = () => sink.requests.some((one) => one.header("x-github-delivery") === guid);
    await lookUntil(jar, relay, ({ repaired }) => repaired > 0 && came());
    await shown(jar, /[1-9] repaired/);
  });
});

test("the page tells why GitHub's history cannot be read, and shows no key", async () => {
  await using sink = startSink();
  await using github = new StandInGithub();
  const key = strangersKey();
  await using relay = await startAppRelay(sink, github, {
    env: { GITHUB_APP_PRIVATE_KEY: key },
  });
  const text = await shown(await signedIn(relay), /role="alert"/);
  assert.match(text, /History read not yet/);
  assert(!text.includes(key.split("\n")[5]));
});

test("the page says so where no hook is watched, and a look is nothing to it", async () => {
  await using relay = await startRelay();
  const jar = await signedIn(relay);
  const text = await html(jar, PAGE);
  assert.match(text, /No hook is watched/);
  assert(!text.includes("Look at the history now"));
  const response = await jar.post(`${PAGE}/repair`, { csrf: await csrfOf(jar) });
  assert.equal(response.status, 303);
});
