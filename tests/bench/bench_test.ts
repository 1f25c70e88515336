import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url).pathname;

async function bench(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", `${ROOT}deno.json`, "--no-prompt", "-A", "bench/main.ts", ...args],
    cwd: ROOT,
  }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test("the benchmark measures all subjects and loses nothing", async () => {
  const short = ["--rounds", "1", "--seconds", "0.3", "--sizes", "2000"];
  const { code, text } = await bench("--only", "throughput", ...short);
  assert.equal(code, 0, text);
  for (const name of ["bare", "plain", "holdfast"]) assert.match(text, new RegExp(`\\| ${name} `));
  assert.match(text, /accepts\/s against the plain reading/);
  assert.match(text, /deliveries lost, all rounds and sizes +\| 0 +\|/);
});

Deno.test("an unknown scenario is answered with the usage", async () => {
  const { code, text } = await bench("--only", "nothing");
  assert.equal(code, 2);
  assert.match(text, /Usage: deno task bench[\s\S]*Scenarios: throughput/);
});
