/** Declares one behaviour of a group; a failed one does not stop those after it. */
export type Behaviour = (name: string, check: () => Promise<void>) => Promise<boolean>;

const JUDGED_AS_A_WHOLE = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };

/**
 * A test whose behaviours share relays and targets. The sanitizers judge it as a whole: the
 * shared parts are alive across its steps, so a step alone would never balance. Steps may
 * also run side by side under `Promise.all`.
 */
export function group(name: string, body: (behaviour: Behaviour) => Promise<void>): void {
  Deno.test({
    name,
    sanitizeOps: true,
    sanitizeResources: true,
    fn: (t) =>
      body((stepName, check) => t.step({ name: stepName, fn: check, ...JUDGED_AS_A_WHOLE })),
  });
}

/** A test of one behaviour with parts of its own, under both sanitizers. */
export function test(name: string, body: () => Promise<void>): void {
  Deno.test({ name, sanitizeOps: true, sanitizeResources: true, fn: body });
}

/**
 * Declares tests that run at the same time, each with parts of its own: for those that wait
 * more than they work.
 */
export function sideBySide(name: string): typeof test {
  const tests: [name: string, body: () => Promise<void>][] = [];
  group(name, async (behaviour) => {
    await Promise.all(tests.map(([testName, body]) => behaviour(testName, body)));
  });
  return (testName, body) => tests.push([testName, body]);
}
