import assert from "node:assert/strict";
import { clock } from "../../lib/boot/clock.ts";
import { pause } from "../helpers/wait.ts";

for (const delayMs of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 36_500 * 86_400_000]) {
  Deno.test(`a wait of ${delayMs} ms does not end at once, and can be called off`, async () => {
    let rang = false;
    const callOff = clock.after(delayMs, () => rang = true);
    await pause(20);
    callOff();
    assert.equal(rang, false);
  });
}

Deno.test("a wait of nothing ends", async () => {
  await new Promise<void>((resolve) => clock.after(0, resolve));
});
