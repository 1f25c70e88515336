/** Numbers that are not configuration. Each carries its source or its reason. */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What one atomic operation of Deno KV takes (https://docs.deno.com/deploy/kv/ and the
 * checks in Deno's `ext/kv`): 100 checks, 1000 mutations, 800 KiB, 80 KiB of keys,
 * 64 KiB a value, 2 KiB a key. The two sums leave room for what is estimated, not counted.
 */
export const KV = {
  checks: 100,
  /** What the `denokv` server takes of them (`limits.rs` of its protocol crate). */
  remoteChecks: 10,
  mutations: 1000,
  commitBytes: 800 * KIB - 24 * KIB,
  keyBytes: 80 * KIB - 4 * KIB,
  valueBytes: 64 * KIB,
  /** Reads of one `getMany`. */
  getMany: 10,
} as const;

export const LIMITS = {
  /** Body bytes in one payload row; 4 KiB below KV's limit for serialisation and names. */
  chunkBytes: 60 * KIB,
  /** Bodies up to this are stored in the accepting commit; larger ones are staged. */
  inlineBodyBytes: 640 * KIB,
  /** Bodies up to this may be whole in memory, for an id, a handshake or hand-over. */
  wholeBodyBytes: MIB,
  /**
   * Header bytes of one request. Row 0 holds them beside the body's start, so they must
   * stay under KV's value limit. Beyond: 431 (RFC 6585 §5).
   */
  headerBytes: 56 * KIB,
  /** Path and query; RFC 9110 §4.1 asks for at least 8000 octets. Beyond: 414. */
  targetBytes: 16 * KIB,
  /** Longest event id that is a key as it is; a longer one is one as its hash. */
  eventIdBytes: 512,
  /** Longest event id that is stored and shown as it came; a longer one as its hash. */
  eventIdChars: 4_096,
  /** Attempts kept in a record, the newest ones. */
  attemptsKept: 50,
  /** Response bytes read and thrown away, to keep a connection reusable. */
  responseBytes: 64 * KIB,
  /** How long a response body may take after its head before the socket is dropped. */
  responseBodyMs: 2_000,
  /** A request body that stands still for so long is answered 408. */
  bodyIdleMs: 30_000,
  /** Two tries at the store with a pause between them, then 503. */
  storeTries: 2,
  storeTryMs: 4_000,
  storePauseMs: 50,
  retryAfterStoreS: 5,
  /** Retry-After is believed up to here. */
  retryAfterCapMs: 6 * 3_600_000,
  /** Below this no new events are stored: what is stored needs room to be settled and expired. */
  diskReserveBytes: 32 * MIB,
  /** An unpublished staging older than this is swept. */
  stagingMs: 15 * 60_000,
  /** More relays than this in a row is a loop. */
  hops: 3,
  /** Shutdown grace: Deno Deploy ends a process 5 s after SIGTERM. */
  stopMs: 5_000,
  /** Longest time a timer sleeps, so that a clock step costs at most this. */
  sweepMs: 60_000,
  /** Clocks of several machines may be so far apart; more is a clock that was stepped. */
  clockErrorMs: 1_000,
  /** How long a cron pass goes on while something is due. */
  cronPassMs: 55_000,
  /** Counters are kept 31 days. */
  statMs: 31 * 86_400_000,
  /** Deliveries in memory in one process over all lanes, and the bytes they may hold. */
  inFlight: 4_000,
  inFlightBytes: 64 * MIB,
} as const;
