import assert from "node:assert/strict";
import { arrival } from "../helpers/arrivals.ts";
import { endpoint } from "../helpers/endpoints.ts";
import { group } from "../helpers/group.ts";
import { allDeliveries } from "../helpers/operator.ts";
import { accept, post, postAnswer } from "../helpers/post.ts";
import { startRelay } from "../helpers/program.ts";
import { exchange } from "../helpers/raw.ts";
import { startSink } from "../helpers/sink.ts";

const UNKNOWN = [
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "%zz", "%E0%A4%A", "a%00b", ""],
];

const BAD_HOSTS: [target: string, host: string][] = [
  ["POST /hook/demo", "relay.example/api/v1/replays?y="],
  ["POST /hook/demo", "x/hook/other?y="],
  ["POST /hook/demo", "user@relay.example"],
  ["POST /hook/demo", "a b"],
  ["GET /healthz", "relay.example/admin?"],
];

group("paths, queries and hosts", async (behaviour) => {
  await using sink = startSink();
  await using relay = await startRelay({
    endpoints: [
      endpoint("demo", sink),
      endpoint("query", sink.url("/x?option=app1&task=hook")),
      endpoint("fixed", sink, { forwardPath: false, forwardQuery: false }),
      endpoint("slash", sink.url("/base/")),
    ],
  });
  const targetOf = async (id: string, rest: string) =>
    (await arrival(sink, await accept(relay, id, { rest }))).target;

  const forwarded: [what: string, id: string, rest: string, target: string][] = [
    [
      "a query keeps order, plus signs, hex case and empty parts",
      "demo",
      "?b=1&a=2&b=3&c=%2F+%20&d&e=&&f=%e9",
      "/in?b=1&a=2&b=3&c=%2F+%20&d&e=&&f=%e9",
    ],
    ["an encoded slash stays encoded", "demo", "/a%2Fb/c%20d", "/in/a%2Fb/c%20d"],
    ["a plain slash stays plain", "demo", "/a/b", "/in/a/b"],
    ["the target's own query comes first", "query", "?q=1", "/x?option=app1&task=hook&q=1"],
    ["the target's own query stands alone", "query", "", "/x?option=app1&task=hook"],
    ["path and query stay behind where told so", "fixed", "/a?q=1", "/in"],
    ["a target that ends in a slash gets no second one", "slash", "/a", "/base/a"],
  ];
  for (const [what, id, rest, target] of forwarded) {
    await behaviour(what, async () => assert.equal(await targetOf(id, rest), target));
  }

  await behaviour("dot segments never climb above the target's path", async () => {
    for (const rest of ["/../admin", "/%2e%2e/admin", "/a/../../admin", "/..%2fadmin"]) {
      const answer = await post(relay, "demo", { rest });
      assert(answer.http < 500, `${rest} answered ${answer.http}`);
      if (answer.http !== 202) continue;
      const { target } = await arrival(sink, answer);
      assert(new URL(target, "http://t").pathname.startsWith("/in"), `${rest} became ${target}`);
    }
  });

  for (const [request, host] of BAD_HOSTS) {
    await behaviour(`${request} with Host "${host}" reaches no other route`, async () => {
      const before = (await allDeliveries(relay, "")).length;
      const response = await exchange(
        relay.port,
        `${request} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`,
      );
      assert(response === undefined || response.status === 400, `answered ${response?.status}`);
      assert.equal((await allDeliveries(relay, "")).length, before);
    });
  }

  const hosts: [name: string, version: string, line: string][] = [
    ["an empty Host", "1.1", "Host:\r\n"],
    ["no Host", "1.1", ""],
    ["no Host in HTTP/1.0", "1.0", ""],
  ];
  for (const [name, version, line] of hosts) {
    await behaviour(`a post with ${name} is taken or refused, never misread`, async () => {
      const response = await exchange(
        relay.port,
        `POST /hook/demo HTTP/${version}\r\n${line}Content-Length: 9\r\n\r\nhost ${version}!`,
      );
      if (response === undefined || response.status === 400) return;
      assert(response.status === 202 || response.status === 200, `answered ${response.status}`);
      const { values } = await arrival(sink, postAnswer(response)).then((request) => ({
        values: request.values("x-forwarded-host"),
      }));
      assert(!values.includes("hook"), `x-forwarded-host is ${values}`);
    });
  }

  for (const id of UNKNOWN) {
    await behaviour(`an endpoint called "${id}" is unknown`, async () => {
      const { http, response } = await post(relay, id);
      assert.equal(http, 404);
      assert.match(response.header("content-type") ?? "", /^application\/problem\+json/);
      assert.equal((await post(relay, "demo")).http, 202);
    });
  }

  for (const [path, status] of [["/hook/demo/", 202], ["//hook/demo", 404], ["/HOOK/demo", 404]]) {
    await behaviour(`${path} is answered ${status}, never by a redirect or a page`, async () => {
      const response = await exchange(
        relay.port,
        `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n//`,
      );
      assert.equal(response?.status, status);
      if (status === 404) return assert.equal(response?.json.status, 404);
      assert.equal((await arrival(sink, postAnswer(response!))).target, "/in/");
    });
  }

  for (const rest of ["/\xe2\x82\xac", "/\xc3\xa9", "?name=\xe6\x97\xa5\xe6\x9c\xac"]) {
    await behaviour(
      `${encodeURI(rest)} as plain UTF-8 goes on byte for byte, where Deno takes it`,
      async () => {
        const response = await exchange(
          relay.port,
          `POST /hook/demo${rest} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n//`,
        );
        const isRefusedByDeno = response?.status === 400 && response.body.length === 0;
        if (isRefusedByDeno) return assert.match(Deno.version.deno, /^2\.[5-7]\./);
        assert.equal(response?.status, 202);
        assert.equal((await arrival(sink, postAnswer(response!))).target, `/in${rest}`);
      },
    );
  }

  await behaviour("a target and a head that are too long only together are refused", async () => {
    const [query, value] = ["q".repeat(15_000), "v".repeat(50_000)];
    const response = await exchange(
      relay.port,
      `POST /hook/demo?${query} HTTP/1.1\r\nHost: h\r\nX-Long: ${value}\r\nContent-Length: 0\r\n\r\n`,
    );
    assert.equal(response?.status, 431);
  });

  await behaviour("an overlong target or head is refused with a 4xx", async () => {
    const long = await exchange(
      relay.port,
      `POST /hook/demo?q=${"a".repeat(20_000)} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n`,
    );
    assert([400, 414, 431].includes(long?.status ?? 400), `answered ${long?.status}`);
    assert.equal((await post(relay, "demo")).http, 202);
  });
});
