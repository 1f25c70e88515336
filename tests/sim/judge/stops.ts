import { LIMITS } from "../../../lib/limits.ts";
import type { Process } from "../process.ts";
import { LANES } from "../settings.ts";
import { hadTrouble, laneRow, recordsOf, type Scene } from "./scene.ts";

/**
 * Who was asked to stop, and could write, keeps nothing: what it left claimed would wait for
 * the lease's end at each deployment, and an attempt it made but did not note would come again.
 */
export function stopKeepsNothing(scene: Scene, by: Process): void {
  if (hadTrouble(scene, by, scene.plan.leaseMs + LIMITS.stopMs)) return;
  for (const lane of LANES) {
    for (const { id, state, lease } of recordsOf(scene, lane)) {
      if (state === "in_flight" && lease?.owner === by.name) {
        scene.violated("stop", `${by.name} has stopped and holds it`, id);
      }
    }
    const probe = laneRow(scene, lane)?.breaker.probe;
    if (probe?.owner === by.name) {
      scene.violated("stop", `${by.name} has stopped and probes ${lane}`, probe.deliveryId);
    }
  }
}
