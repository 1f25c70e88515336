import type { Preset } from "./preset.ts";
import { CODE } from "./presets/code.ts";
import { COMMERCE } from "./presets/commerce.ts";
import { MESSAGING } from "./presets/messaging.ts";
import { WORK } from "./presets/work.ts";

/** Every sender that can be named as `provider`. */
export const PRESETS: readonly Preset[] = [...CODE, ...COMMERCE, ...MESSAGING, ...WORK];

const BY_NAME: ReadonlyMap<string, Preset> = new Map(
  PRESETS.flatMap((preset) => [preset.name, ...preset.aliases ?? []].map((name) => [name, preset])),
);

/** Names and aliases that `provider` may have. */
export const PROVIDERS: ReadonlySet<string> = new Set(BY_NAME.keys());

/** The preset with a name or alias. */
export function presetOf(provider: string): Preset | undefined {
  return BY_NAME.get(provider);
}
