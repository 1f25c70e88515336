import assert from "node:assert/strict";
import { until } from "../helpers/wait.ts";

/** Made by `deno task compile`; too large to be made by each run of the tests. */
const BINARY = new URL("../../dist/holdfast", import.meta.url).pathname;

function isMade(): boolean {
  try {
    return Deno.statSync(BINARY).isFile;
  } catch {
    return false;
  }
}

Deno.test({
  name: "the compiled program accepts a webhook and has its pages within it",
  ignore: !isMade(),
  async fn() {
    const folder = Deno.makeTempDirSync({ prefix: "holdfast-test-" });
    const child = new Deno.Command(BINARY, {
      cwd: folder,
      clearEnv: true,
      env: {
        HOST: "127.0.0.1",
        PORT: "0",
        ADMIN_TOKEN: "operator-of-the-tests",
        ENDPOINTS: JSON.stringify([{ id: "demo", targetUrl: "http://127.0.0.1:9/" }]),
      },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let output = "";
    const reading = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text;
    })();
    try {
      const port = await until(() => /"listening".*"port":(\d+)/.exec(output)?.[1], {
        withinMs: 30_000,
        what: () => `the binary to listen; it wrote:\n${output}`,
      });
      const origin = `http://127.0.0.1:${port}`;
      const accepted = await fetch(`${origin}/hook/demo`, { method: "POST", body: "{}" });
      assert.equal(accepted.status, 202, await accepted.text());
      const pages = ["/admin/static/admin.js", "/admin/static/admin.css", "/docs/guide/deploying"];
      for (const path of [...pages, "/docs/guide/images/overview.png"]) {
        const page = await fetch(origin + path);
        await page.body?.cancel();
        assert.equal(page.status, 200, path);
      }
    } finally {
      child.kill("SIGKILL");
      await Promise.all([child.status, reading]);
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
