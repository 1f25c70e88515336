import assert from "node:assert/strict";
import { hmacHex } from "../helpers/bytes.ts";
import { cli, jsonLines } from "./cli.ts";

const SECRET = "It's a Secret to Everybody";
const BODY = "Hello, World!";

const request = (body: string) =>
  [
    "POST /hook/github HTTP/1.1",
    "host: relay.example",
    "x-github-event: push",
    `x-hub-signature-256: sha256=${hmacHex(SECRET, BODY)}`,
    "",
    body,
  ].join("\r\n");

const verify = (input: string, ...args: string[]) =>
  cli(undefined, ["verify", "--provider", "github", ...args], {
    input,
    env: { SECRET, ADMIN_TOKEN: "" },
  });

Deno.test("a captured request that is right ends with 0, without any relay", async () => {
  const { code, stderr } = await verify(request(BODY), "--secret", "$env:SECRET");
  assert.equal(code, 0, stderr);
});

Deno.test("a body altered on the way ends with 1 and its cause, and no secret", async () => {
  const altered = await verify(request(`${BODY}\n`), "--secret", SECRET, "--json");
  assert.equal(altered.code, 1);
  const [{ verifies, causes }] = jsonLines(altered.stdout);
  assert.equal(verifies, false);
  assert.notDeepEqual(causes, []);
  assert.doesNotMatch(altered.stdout + altered.stderr, new RegExp(SECRET));
});

Deno.test("any one of several secrets will do", async () => {
  const { code } = await verify(request(BODY), "--secret", "old-one", SECRET);
  assert.equal(code, 0);
});

Deno.test("a secret's variable that is not set ends with 2", async () => {
  const { code, stderr } = await verify(request(BODY), "--secret", "$env:NOT_THERE");
  assert.equal(code, 2);
  assert.match(stderr, /NOT_THERE is not set/);
});

Deno.test("an unknown sender ends with 1", async () => {
  const args = ["verify", "--provider", "nobody", "--secret", "x"];
  assert.equal((await cli(undefined, args, { input: request(BODY) })).code, 1);
});
