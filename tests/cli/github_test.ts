import assert from "node:assert/strict";
import { group } from "../helpers/group.ts";
import { startRelay } from "../helpers/program.ts";
import { cli } from "./cli.ts";

group("github on the command line", async (behaviour) => {
  await using relay = await startRelay({
    endpoints: [{ id: "demo", targetUrl: "http://127.0.0.1:9/" }],
  });

  await behaviour("says that no hook is watched", async () => {
    const { code, stdout } = await cli(relay, ["github"]);
    assert.deepEqual([code, stdout], [0, "no endpoint has github set\n"]);
  });

  await behaviour("fails where there is nothing to repair", async () => {
    const { code, stderr } = await cli(relay, ["github", "repair"]);
    assert.equal(code, 1);
    assert.match(stderr, /no endpoint has github set/);
  });
});
