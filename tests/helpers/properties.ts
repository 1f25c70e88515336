import fc from "fast-check";

/**
 * Properties draw the same values at every run, so that a change fails for what it changed.
 * Others are drawn by hand: `PROPERTY_SEED=7 deno task test`.
 */
fc.configureGlobal({ seed: Number(Deno.env.get("PROPERTY_SEED") ?? 1) });

export { fc };
