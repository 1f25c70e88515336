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

const RELAY_LANE = /^relay-[0-9a-f]{24}$/;

/** The lane of a relay mode's target, by the hex SHA-256 of its URL. */
export function relayLaneId(urlSha256: string): string {
  return `relay-${urlSha256.slice(0, 24)}`;
}

/** Whether a lane is one of relay mode's; no configured endpoint may be named so. */
export function isRelayLane(endpoint: string): boolean {
  return RELAY_LANE.test(endpoint);
}
