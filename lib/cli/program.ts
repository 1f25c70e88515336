import { Command, CommanderError } from "commander";
import { addDead } from "./commands/dead.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEndpoints } from "./commands/endpoints.ts";
import { addGithub } from "./commands/github.ts";
import { addLaneActions } from "./commands/lane_actions.ts";
import { addPayload } from "./commands/payload.ts";
import { addReplay } from "./commands/replay.ts";
import { addSend } from "./commands/send.ts";
import { addShow } from "./commands/show.ts";
import { addStatus } from "./commands/status.ts";
import { addTail } from "./commands/tail.ts";
import { addTest } from "./commands/test.ts";
import { addVerify } from "./commands/verify.ts";
import { EXIT, type ExitCode, Failure } from "./exit.ts";
import type { Io } from "./io.ts";
import { type AddCommand, openSession } from "./session.ts";
import { safe } from "./text.ts";

/** In the order in which help shows them. */
const COMMANDS: readonly AddCommand[] = [
  addStatus,
  addEndpoints,
  addLaneActions,
  addTest,
  addDeliveries,
  addShow,
  addPayload,
  addDead,
  addReplay,
  addGithub,
  addTail,
  addSend,
  addVerify,
  addDoctor,
];

const AFTER_HELP = `
Environment:
  HOLDFAST_URL   the relay's address (default http://127.0.0.1:8000)
  ADMIN_TOKEN    the relay's admin token
  NO_COLOR       no colours

Exit codes:
  0  done        1  refused or failed     2  wrong command line
  3  relay unreachable                    4  admin token missing or wrong

Examples:
  deno task cli status
  deno task cli deliveries --endpoint github --state dead --since 2h
  deno task cli replay --endpoint github --since 2h --dry-run
  deno task cli tail --json | jq .endpoint
`;

/** Runs one command line and says how the program is to end. */
export async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  try {
    await createProgram(io).parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof Failure)) throw error;
    io.err.write(`${safe(error.message)}\n`);
    return error.exit;
  }
}

function createProgram(io: Io): Command {
  const program = new Command("deno task cli")
    .description("Operate a Holdfast relay: look, hold, test, replay.")
    .option("--json", "print JSON, one value a line")
    .option("--url <url>", "the relay's address, instead of HOLDFAST_URL")
    .option("--no-color", "no colours")
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      // A mistyped word is shown back to the person, and may have been pasted from anywhere.
      outputError: (text, write) => write(`${safe(text.trimEnd())}\n`),
      getOutHelpWidth: () => io.out.columns() ?? 100,
      getErrHelpWidth: () => io.err.columns() ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText("after", AFTER_HELP)
    .exitOverride();
  for (const add of COMMANDS) add(program, () => openSession(io, program.opts()));
  return program;
}
