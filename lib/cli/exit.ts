/** How the program ends, for scripts. */
export const EXIT = {
  ok: 0,
  /** The relay refused, or what was asked for did not succeed. */
  failed: 1,
  /** The command line is wrong; nothing was asked. */
  usage: 2,
  /** The relay does not answer. */
  unreachable: 3,
  /** The admin token is missing or wrong, or the relay has none. */
  unauthorised: 4,
} as const;

export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** Ends a command early: what to tell the person, and how the program ends. */
export class Failure extends Error {
  override name = "Failure";
  readonly exit: ExitCode;

  constructor(exit: ExitCode, message: string) {
    super(message);
    this.exit = exit;
  }
}
