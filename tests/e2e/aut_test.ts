import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { hmacHex } from "../helpers/bytes.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group, test } from "../helpers/group.ts";
import { allDeliveries, statusOf } from "../helpers/operator.ts";
import { post } from "../helpers/post.ts";
import { runToExit, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";

const HEADER = "X-Hub-Signature-256";
const BODY = "Hello, World!";
const SECRET = "It's a Secret to Everybody";
const RIGHT = hmacHex(SECRET, BODY);

/** Signature headers that must be refused, by what is wrong with them. */
const WRONG: [what: string, value: string | undefined][] = [
  ["absent", undefined],
  ["of three digits", "sha256=abc"],
  ["a prefix alone", "sha256="],
  ["empty", ""],
  ["no hex", "z".repeat(64)],
  ["a digit short", RIGHT.slice(1)],
  ["a digit long", RIGHT + "0"],
  ["another's", hmacHex("other", BODY)],
  ["of an unknown algorithm", "bogus=00"],
  ["an MD5", `md5=${hmacHex(SECRET, BODY, "md5")}`],
  ["a SHA-1", `sha1=${hmacHex(SECRET, BODY, "sha1")}`],
  ["a SHA-512", `sha512=${hmacHex(SECRET, BODY, "sha512")}`],
  ["without an algorithm's name", `=${RIGHT}`],
];

const whsec = (name: string) => `whsec_${btoa(name.padEnd(24, "-"))}`;

/** Standard Webhooks: base64 HMAC over id, time and body, with the decoded secret. */
function standardSignature(name: string, id: string, second: number, body: string): string {
  return createHmac("sha256", name.padEnd(24, "-")).update(`${id}.${second}.${body}`)
    .digest("base64");
}

group("signatures", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink, { secret: SECRET, signatureHeader: HEADER, dedup: "off" }),
      endpoint("rotated", sink, { secret: ["new", "old"], signatureHeader: HEADER }),
      endpoint("line-break", sink, { secret: "$env:S", signatureHeader: HEADER }),
      endpoint("standard", sink, {
        provider: "standard-webhooks",
        secret: [whsec("new"), whsec("old")],
      }),
    ],
    env: { S: "k3y\n" },
  });
  const signed = async (id: string, value: string | undefined) =>
    (await post(relay, id, {
      body: BODY,
      headers: value === undefined ? {} : { [HEADER]: value },
    })).http;

  for (const [what, value] of WRONG) {
    await behaviour(`a signature that is ${what} is answered 401`, async () => {
      assert.equal(await signed("demo", value), 401);
      assert.equal((await allDeliveries(relay, "endpoint=demo")).length, 0);
    });
  }

  await behaviour("the published example of a signature is accepted", async () => {
    assert.equal(RIGHT, "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
    assert.equal(await signed("demo", `sha256=${RIGHT}`), 202);
    assert.equal(await signed("demo", RIGHT), 202);
  });

  await behaviour("upper-case hex is accepted or refused, never an error", async () => {
    assert([202, 401].includes(await signed("demo", `sha256=${RIGHT.toUpperCase()}`)));
  });

  await behaviour("during a rotation both secrets pass", async () => {
    for (const secret of ["new", "old"]) {
      const body = `signed by ${secret}`;
      const headers = { [HEADER]: hmacHex(secret, body) };
      assert.equal((await post(relay, "rotated", { body, headers })).http, 202);
    }
  });

  await behaviour("a line break at the end of a secret's variable is not part of it", async () => {
    assert.equal(await signed("line-break", `sha256=${hmacHex("k3y", BODY)}`), 202);
    assert.doesNotMatch(relay.output, /k3y/);
  });

  const lists: [what: string, list: (sign: (name: string) => string) => string, outcome: string][] =
    [
      ["a bad one and one by the old secret", (sign) => `v1,BAD v1,${sign("old")}`, "accepted"],
      [
        "an unknown version and one by the new secret",
        (sign) => `v1a,x v1,${sign("new")}`,
        "accepted",
      ],
      [
        "three bad ones",
        (sign) => `v1,BAD v1,${sign("other")} v1a,${sign("new")}`,
        "bad_signature",
      ],
    ];
  for (const [n, [what, list, outcome]] of lists.entries()) {
    await behaviour(`a list of ${what} is answered ${outcome}`, async () => {
      const second = Math.floor(Date.now() / 1_000);
      const id = `msg_${n}`;
      const answer = await post(relay, "standard", {
        body: BODY,
        headers: {
          "webhook-id": id,
          "webhook-timestamp": String(second),
          "webhook-signature": list((name) => standardSignature(name, id, second, BODY)),
        },
      });
      assert.equal(answer.status || answer.code, outcome, answer.response.text);
    });
  }
});

const CREDENTIALS: [what: string, value: string | undefined][] = [
  ["no header", undefined],
  ["a bare scheme", "Bearer"],
  ["a blank token", "Bearer  "],
  ["a wrong token", "Bearer tok2"],
  ["a shorter token", "Bearer to"],
  ["another scheme", "Basic dG9rOg=="],
];

for (const [what, token] of [["empty", ""], ["blank", " "]]) {
  test(`with an ${what} admin token the operator surface stays shut`, async () => {
    await using relay = await startRelay({ env: { ADMIN_TOKEN: token } });
    for (const value of [...CREDENTIALS.map(([, value]) => value), "Bearer tok"]) {
      const headers: Record<string, string> = value === undefined ? {} : { authorization: value };
      const response = await fetch(`${relay.origin}/api/v1/status`, { headers });
      const { code } = await response.json();
      assert.deepEqual([response.status, code], [503, "admin_disabled"], String(value));
    }
  });
}

group("the admin token", async (behaviour) => {
  await using relay = await startRelay({ env: { ADMIN_TOKEN: "tok\n" } });
  const routes = ["/api/v1/status", "/api/v1/deliveries", "/dead-letters/demo"];
  for (const [what, value] of CREDENTIALS) {
    await behaviour(`${what} opens nothing`, async () => {
      const headers: Record<string, string> = value === undefined ? {} : { authorization: value };
      for (const route of routes) {
        assert.equal(await statusOf(fetch(relay.origin + route, { headers })), 401, route);
      }
    });
  }
  await behaviour("the right one opens, without the line break its variable ended in", async () => {
    const headers = { authorization: "Bearer tok" };
    assert.equal(await statusOf(fetch(`${relay.origin}/api/v1/deliveries`, { headers })), 200);
  });
});

test("an endpoint with a blank or missing secret stops the start", async () => {
  const secrets = { blanks: "   ", list: [], "blank-in-list": [""], missing: "$env:MISSING" };
  const { code, output } = await runToExit({
    endpoints: Object.entries(secrets).map(([id, secret]) =>
      endpoint(id, "http://127.0.0.1:9/in", { secret })
    ),
  });
  assert.equal(code, 1);
  for (const id of Object.keys(secrets)) {
    assert(output.split("\n").some((line) => line.includes(id) && line.includes("secret")), output);
  }
});
