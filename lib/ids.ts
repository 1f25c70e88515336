import { encodeTime } from "ulid";

/** A ULID (https://github.com/ulid/spec): 26 digits of Crockford's base 32. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Whether text can be the id of a delivery or a job; anything else need not be looked up. */
export function isId(text: string): boolean {
  return ULID.test(text);
}

/** The least id of an instant: all ids made before it sort before it. */
export function firstIdAt(atMs: number): string {
  return encodeTime(Math.max(0, atMs), TIME_DIGITS) + "0".repeat(RANDOM_DIGITS);
}

const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;
