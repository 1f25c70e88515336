import type { FunctionComponent } from "preact";
import { Copy } from "./copy.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Delivery } from "./delivery.tsx";
import { Overview } from "./overview.tsx";
import { ReplayJob } from "./replay_job.tsx";

/** All islands by the name that the page carries. */
export const ISLANDS = { Copy, Deliveries, Delivery, Overview, ReplayJob };

export type IslandName = keyof typeof ISLANDS;

/** Its props come from the page, so what fits is known there and not here. */
export type AnyIsland = FunctionComponent<Record<string, unknown>>;
