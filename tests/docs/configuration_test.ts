import assert from "node:assert/strict";
import { configurationPage } from "../../lib/config_docs.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

Deno.test("docs/configuration.md is what the schemas say", () => {
  const hint = "run: deno run -RW --allow-env lib/config_docs.ts";
  assert.equal(read("docs/configuration.md"), configurationPage(), hint);
});

Deno.test("the page has every variable of the environment that a schema reads", () => {
  const files = [...Deno.readDirSync(new URL("lib", ROOT))].map(({ name }) => name)
    .filter((name) => name === "config.ts" || name.endsWith("_settings.ts"));
  const names = files.flatMap((name) =>
    [...read(`lib/${name}`).matchAll(/^ {2}([A-Z]+_?[A-Z_]*): /gm)].map(([, variable]) => variable)
  );
  assert(names.length > 10, "no variables were found");
  const page = configurationPage();
  assert.deepEqual(names.filter((name) => !page.includes(`| \`${name}\` |`)), []);
});
