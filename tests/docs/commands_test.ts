import assert from "node:assert/strict";
import { endpoint } from "../helpers/endpoints.ts";
import { ADMIN_TOKEN, startRelay } from "../helpers/program.ts";
import { startSink } from "../helpers/sink.ts";
import { fencedBlocks, PAGES } from "./pages.ts";

const ROOT = new URL("../../", import.meta.url);

/** Commands of a page may be long or odd, but not slow. */
const WITHIN_MS = 60_000;

async function hasShell(): Promise<boolean> {
  const probe = new Deno.Command("sh", { args: ["-c", "command -v bash curl"], stdout: "null" });
  return await probe.output().then(({ success }) => success, () => false);
}

/** Runs a page's block as a reader would who has set what the page on starting sets. */
async function run(block: string, relay: string, folder: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", block],
    cwd: ROOT,
    env: {
      PATH: `${folder}:${Deno.env.get("PATH")}`,
      NO_COLOR: "1",
      RELAY: relay,
      HOLDFAST_URL: relay,
      ADMIN_TOKEN,
    },
    signal: AbortSignal.timeout(WITHIN_MS),
  }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, `the block fails:\n${block}\n${output}`);
  return output;
}

Deno.test({
  name: "the commands of the pages that are marked to run do what they say",
  ignore: !await hasShell(),
  async fn(test) {
    const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
    Deno.symlinkSync(Deno.execPath(), `${folder}/deno`);
    try {
      await using sink = startSink();
      await using relay = await startRelay({ endpoints: [endpoint("demo", sink)] });
      for (const page of PAGES) {
        for (const [index, block] of fencedBlocks(page, "sh run").entries()) {
          await test.step(`${page}, block ${index + 1}`, async () => {
            const output = await run(block, relay.origin, folder);
            assert.doesNotMatch(output, /"code":"|^cannot /m, `${block}\n${output}`);
          });
        }
      }
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
