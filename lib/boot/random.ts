const POOL_BYTES = 1_024;

/**
 * Random fractions in steps of 1/256, as ids of 5 bits a digit need them. Drawn from the
 * system's secure source in pools: one call of it a digit is most of what an id costs.
 */
export function pooledFractions(): () => number {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return () => {
    if (next === POOL_BYTES) {
      crypto.getRandomValues(pool);
      next = 0;
    }
    return pool[next++] / 256;
  };
}
