interface Patience {
  withinMs?: number;
  /** What is waited for, as the failure message names it; a function is asked when it is late. */
  what: string | (() => string);
}

function tooLate(withinMs: number, what: Patience["what"]): Error {
  const text = typeof what === "function" ? what() : what;
  return new Error(`waited ${withinMs} ms in vain for ${text}`);
}

const POLL_MS = 10;

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `condition` gives a truthy value and returns it; throws after `withinMs` (60 s). */
export async function until<T>(
  condition: () => T | Promise<T>,
  { withinMs = 60_000, what }: Patience,
): Promise<NonNullable<T>> {
  const deadlineMs = performance.now() + withinMs;
  while (true) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadlineMs) throw tooLate(withinMs, what);
    await pause(POLL_MS);
  }
}

/** Settles like `promise`, or throws once `withinMs` are over. */
export async function within<T>(
  promise: Promise<T>,
  { withinMs = 60_000, what }: Patience,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(withinMs, what)), withinMs);
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
