import assert from "node:assert/strict";
import { startWarnings } from "../../lib/boot/start_warnings.ts";
import { parseConfig } from "../../lib/config.ts";

function warningsOf(targets: string[], env: Record<string, string> = {}): Promise<string[]> {
  const endpoints = targets.map((targetUrl, index) => ({ id: `e${index}`, targetUrl }));
  const config = parseConfig({
    env: { ADMIN_TOKEN: "token", ENDPOINTS: JSON.stringify(endpoints), ...env },
    providers: new Set(),
    defaultHost: "127.0.0.1",
  });
  assert(!("faults" in config));
  return startWarnings(config);
}

const APP = "https://app.example.com/in";

Deno.test("a start with endpoints and a token is warned of nothing", async () => {
  assert.deepEqual(await warningsOf([APP]), []);
});

Deno.test("a start without endpoints is warned, but not where relay mode is on", async () => {
  assert.match((await warningsOf([])).join(), /^no endpoint is configured/);
  assert.deepEqual(await warningsOf([], { RELAY_TARGETS: APP }), []);
});

Deno.test("a start in which no operator can sign in is warned", async () => {
  assert.match((await warningsOf([APP], { ADMIN_TOKEN: "" })).join(), /^ADMIN_TOKEN is not set/);
});

for (const host of ["127.0.0.1:3000", "localhost", "10.1.2.3", "[::1]:80", "169.254.169.254"]) {
  Deno.test(`a target on ${host} is warned of, unless it is allowed`, async () => {
    const targets = [`http://${host}/secret-path`];
    const [warning, ...more] = await warningsOf(targets);
    assert.match(warning, /^endpoint "e0": targetUrl is a private address/);
    assert.doesNotMatch(warning, /secret-path/);
    assert.deepEqual(more, []);
    assert.deepEqual(await warningsOf(targets, { ALLOW_PRIVATE_TARGETS: "1" }), []);
  });
}

Deno.test("a target that is a name or a public address is not warned of", async () => {
  assert.deepEqual(
    await warningsOf([APP, "http://93.184.216.34/", "http://localhost.example/"]),
    [],
  );
});
