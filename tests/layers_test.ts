import assert from "node:assert/strict";
import { fromFileUrl, relative } from "./helpers/paths.ts";

/** Rooms from the ground up: a file may import from its own floor and from those below. */
const FLOORS: readonly (readonly [floor: number, room: RegExp])[] = [
  [5, /^(main|cli)\.ts$/],
  [4, /^(routes|islands|lib\/boot|lib\/cli)\//],
  [3, /^lib\/(flow|auth|observe)\//],
  [2, /^lib\/store\//],
  [1, /^lib\/(decide|verify)\//],
  [0, /^lib\/[^/]+\.ts$/],
];

/** What the pure floors must not touch: time, chance and the world are parameters there. */
const IMPURE = /\bDeno\.|\bDate\.now\(|\bMath\.random\(|\bfetch\(|\bsetTimeout\(|\bperformance\./;

interface Dependency {
  code?: { specifier?: string };
  type?: { specifier?: string };
}

interface Info {
  modules: { specifier: string; dependencies?: Dependency[] }[];
}

const root = new URL("../", import.meta.url);

async function imports(entry: string): Promise<Map<string, Set<string>>> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: root,
    stderr: "null",
  });
  const { stdout } = await command.output();
  const info = JSON.parse(new TextDecoder().decode(stdout)) as Info;
  const found = new Map<string, Set<string>>();
  for (const { specifier, dependencies = [] } of info.modules) {
    if (!specifier.startsWith(root.href)) continue;
    const targets = dependencies.flatMap(({ code, type }) => [code?.specifier, type?.specifier]);
    const own = targets.filter((target) => target?.startsWith(root.href)).map((target) =>
      pathOf(target!)
    );
    found.set(pathOf(specifier), new Set(own));
  }
  return found;
}

const pathOf = (specifier: string) => relative(root, specifier);
const floorOf = (path: string) => FLOORS.find(([, room]) => room.test(path))?.[0];

for (const entry of ["main.ts", "cli.ts"]) {
  Deno.test(`imports of ${entry} point down only`, async () => {
    const graph = await imports(entry);
    assert(graph.size > 10, "the module graph is empty");
    const upward: string[] = [];
    for (const [path, targets] of graph) {
      const floor = floorOf(path);
      assert(floor !== undefined, `${path} is in no room`);
      for (const target of targets) {
        if ((floorOf(target) ?? Infinity) > floor) upward.push(`${path} -> ${target}`);
      }
    }
    assert.deepEqual(upward, []);
  });
}

Deno.test("decisions and verification are pure: no clock, chance, network or runtime of their own", async () => {
  const impure: string[] = [];
  for (const path of (await imports("main.ts")).keys()) {
    if (floorOf(path) !== 1) continue;
    const source = Deno.readTextFileSync(fromFileUrl(new URL(path, root)));
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (IMPURE.test(code)) impure.push(path);
  }
  assert.deepEqual(impure, []);
});

Deno.test("only the store's room uses Deno KV", async () => {
  const users: string[] = [];
  for (const path of (await imports("main.ts")).keys()) {
    if (path.startsWith("lib/store/") || !/^(lib|routes)\//.test(path)) {
      continue;
    }
    const source = Deno.readTextFileSync(fromFileUrl(new URL(path, root)));
    if (/\bkv\.(get|getMany|list|set|delete|atomic|enqueue|listenQueue)\(/.test(source)) {
      users.push(path);
    }
  }
  assert.deepEqual(users, []);
});
