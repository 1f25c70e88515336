import type { Telemetry } from "./telemetry.ts";

/** Deno's own switch (https://docs.deno.com/runtime/fundamentals/open_telemetry/). */
const ON = new Set(["1", "true"]);

/**
 * Telemetry, if `otelDeno`, the value of the variable `OTEL_DENO`, switches it on. Else
 * nothing is loaded and everything passes through untouched.
 */
export async function loadTelemetry(
  otelDeno: string | undefined,
  endpoints: { has(id: string): boolean },
): Promise<Telemetry> {
  if (!ON.has(otelDeno ?? "")) return OFF;
  const { createTelemetry } = await import("./telemetry.ts");
  return createTelemetry(endpoints);
}

const OFF: Telemetry = {
  observe: () => {},
  transport: (inner) => inner,
  handler: (inner) => inner,
};
