import assert from "node:assert/strict";
import { BACKLOG, type LaneLoad, replayRoom } from "../../lib/decide/replay_pace.ts";

const IDLE: LaneLoad = {
  gate: "all",
  concurrency: 50,
  inFlight: 0,
  open: 0,
  waits: false,
  starved: false,
};

const TABLE: [name: string, load: Partial<LaneLoad>, room: number][] = [
  ["an idle lane", {}, 25],
  ["a lane with ten under way", { inFlight: 10, open: 10 }, 15],
  ["a lane half full", { inFlight: 25, open: 25 }, 0],
  ["a lane half full that gave nothing for a while", { inFlight: 25, starved: true }, 1],
  ["a lane where something waits", { waits: true, open: 1 }, 0],
  ["a starved job where something waits", { waits: true, open: 1, starved: true }, 0],
  ["a lane for one at a time", { concurrency: 1 }, 1],
  ["a lane for one at a time, taken", { concurrency: 1, inFlight: 1, open: 1 }, 0],
  ["a lane with 20 a second", { rateLimit: 20 }, 5],
  ["a lane with one in ten seconds", { rateLimit: 0.1 }, 1],
  ["a lane with a backlog of retries", { open: BACKLOG + 50 }, 0],
  ["an open or paused lane", { gate: "none" }, 1],
  ["an open or paused lane that has one", { gate: "none", open: 1, waits: true }, 0],
  ["a lane about to probe", { gate: "probe" }, 1],
];

for (const [name, load, room] of TABLE) {
  Deno.test(`replayRoom() of ${name} is ${room}`, () => {
    assert.equal(replayRoom({ ...IDLE, ...load }), room);
  });
}
