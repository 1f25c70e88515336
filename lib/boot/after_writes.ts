import { setImmediate } from "node:timers";
import type { AfterWrites } from "../ports.ts";

/** Two turns of the event loop: the server writes an answer that was just given in the first. */
export const afterWrites: AfterWrites = (fn) => {
  setImmediate(() => setImmediate(fn));
};
