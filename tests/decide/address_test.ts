import assert from "node:assert/strict";
import { isGlobalUnicast, mayConnect } from "../../lib/decide/address.ts";

const GLOBAL = [
  ...["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1"],
  ...["198.17.255.255", "198.20.0.1", "2606:4700:4700::1111", "2a00:1450:4001::200e"],
  ...["::ffff:8.8.8.8", "::ffff:808:808", "64:ff9b::8.8.8.8", "2002:808:808::1", "::8.8.8.8"],
];

const REFUSED: Record<string, string[]> = {
  "this network": ["0.0.0.0", "0.1.2.3"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12::1"],
  "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"],
  CGNAT: ["100.64.0.1", "100.127.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  reserved: ["240.0.0.1", "255.255.255.255", "192.0.0.1", "192.88.99.1", "100::1", "4000::1"],
  documentation: ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"],
  benchmarking: ["198.18.0.1", "198.19.255.255", "2001:2::1"],
  unspecified: ["::"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "::FFFF:10.0.0.1"],
  "IPv4-compatible": ["::127.0.0.1", "::7f00:1", "::10.0.0.1"],
  "IPv4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
  NAT64: ["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "64:ff9b:1::808:808"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1"],
  Teredo: ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "not an address": [
    ...["", "example.com", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "8.8.8.8.8"],
    ...["08.8.8.8", "[2606:4700::1]", "2606:4700::1%eth0", "8.8.8.8/32"],
  ],
};

for (const address of GLOBAL) {
  Deno.test(`isGlobalUnicast() accepts ${address}`, () => assert.ok(isGlobalUnicast(address)));
}

for (const [kind, addresses] of Object.entries(REFUSED)) {
  for (const address of addresses) {
    Deno.test(`isGlobalUnicast() refuses ${kind} ${JSON.stringify(address)}`, () => {
      assert.equal(isGlobalUnicast(address), false);
    });
  }
}

Deno.test("mayConnect() allows global unicast without any setting", () => {
  assert.ok(mayConnect("8.8.8.8", false));
});

Deno.test("mayConnect() allows every private address where all are allowed", () => {
  assert.ok(["127.0.0.1", "::1", "::ffff:10.0.0.1"].every((address) => mayConnect(address, true)));
});

Deno.test("mayConnect() refuses what is not an address even where all are allowed", () => {
  assert.equal(mayConnect("localhost", true), false);
});

const BLOCKS: [address: string, blocks: string[], allowed: boolean][] = [
  ["10.1.2.3", ["10.0.0.0/8"], true],
  ["11.1.2.3", ["12.0.0.0/8"], true], // global anyway
  ["192.168.1.1", ["10.0.0.0/8"], false],
  ["192.168.1.1", ["10.0.0.0/8", "192.168.0.0/16"], true],
  ["127.0.0.1", ["127.0.0.1"], true],
  ["127.0.0.2", ["127.0.0.1"], false],
  ["::1", ["::1/128"], true],
  ["::1", ["::1"], true],
  ["::2", ["::1"], false],
  ["::1", ["127.0.0.0/8"], false],
  ["::ffff:127.0.0.1", ["127.0.0.0/8"], true],
  ["::ffff:127.0.0.1", ["::/0"], false],
  ["fd00::1", ["fd00::/8"], true],
  ["127.0.0.1", ["0.0.0.0/0"], true],
  ["127.0.0.1", ["127.0.0.0/99", "127.0.0.0/x", "nonsense", ""], false],
  ["127.0.0.1", [], false],
];

for (const [address, blocks, allowed] of BLOCKS) {
  Deno.test(`mayConnect() ${allowed ? "allows" : "refuses"} ${address} with [${blocks}]`, () => {
    assert.equal(mayConnect(address, blocks), allowed);
  });
}
