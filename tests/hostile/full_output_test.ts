import assert from "node:assert/strict";
import { fromFileUrl } from "../helpers/paths.ts";

const MODULE = new URL("../../lib/boot/stdout.ts", import.meta.url);
/** Linux's device that is always full. */
const FULL = "/dev/full";

Deno.test({
  name: "a program whose log cannot be written goes on",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const script = `
      import { writeOut } from "${MODULE}";
      setTimeout(() => {
        writeOut("a line");
        console.error("still here");
      });
    `;
    const folder = await Deno.makeTempDir({ prefix: "holdfast-test-" });
    try {
      const path = `${folder}/script.ts`;
      await Deno.writeTextFile(path, script);
      const command = `exec "$0" run --no-prompt --allow-read "$1" > ${FULL}`;
      const { success, stderr } = await new Deno.Command("sh", {
        args: ["-c", command, Deno.execPath(), path],
        cwd: fromFileUrl(new URL("../../", import.meta.url)),
      }).output();
      assert(success);
      assert.match(new TextDecoder().decode(stderr), /still here/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
