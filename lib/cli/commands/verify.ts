import { examples } from "../examples.ts";
import { EXIT, Failure } from "../exit.ts";
import { timeOption } from "../filters.ts";
import type { AddCommand } from "../session.ts";
import { safe } from "../text.ts";

interface Options {
  provider: string;
  secret: string[];
  target?: string;
  at?: string;
}

export const addVerify: AddCommand = (program, session) => {
  program.command("verify")
    .argument("[file]", "a raw HTTP request; standard input where it is - or absent", "-")
    .description("check a captured request's signature, offline, and say what is the matter")
    .requiredOption("--provider <name>", "the sender's preset, github for example")
    .requiredOption("--secret <secret...>", "its secret, or $env:NAME for the variable's value")
    .option("--target <url>", "the address the sender called, for senders that sign it")
    .option("--at <time>", "judge as at this time: ISO 8601, or how long ago (2h)")
    .addHelpText(
      "after",
      examples(
        "verify --provider github --secret '$env:GITHUB_SECRET' < request.http",
        "verify --provider stripe --secret '$env:STRIPE_SECRET' --at 2h request.http",
      ),
    )
    .action(async (file: string, { provider, secret, target, at = "0s" }: Options) => {
      const { io, out } = session();
      // Every sender's rules are only loaded by the one command that needs them.
      const { verifyCaptured } = await import("../../verify/explain.ts");
      const explanation = verifyCaptured({
        request: file === "-" ? await io.readInput() : await io.readFile(file),
        provider,
        secrets: secret.map((text) => secretOf(text, io.env)),
        nowMs: Date.parse(timeOption("--at", at, io.nowMs())),
        url: target,
      });
      const { verifies, detail, causes } = explanation;
      if (out.json) out.value(explanation);
      else out.text(`${[detail, ...causes.map((cause) => `- ${cause}`)].map(safe).join("\n")}\n`);
      if (!verifies) throw new Failure(EXIT.failed, "the request does not verify");
    });
};

/** Secrets on a command line are seen by other users; a variable's name is not one. */
function secretOf(text: string, env: (name: string) => string | undefined): string {
  if (!text.startsWith("$env:")) return text;
  const name = text.slice("$env:".length);
  const value = env(name);
  if (value === undefined) throw new Failure(EXIT.usage, `cannot verify: ${name} is not set`);
  return value.replace(/[\r\n]+$/, "");
}
