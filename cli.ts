import { EXIT, Failure } from "./lib/cli/exit.ts";
import type { Io, Sink } from "./lib/cli/io.ts";
import { run } from "./lib/cli/program.ts";

const ENCODER = new TextEncoder();

const io: Io = {
  env: (name) => Deno.env.get(name),
  out: sink(Deno.stdout),
  err: sink(Deno.stderr),
  nowMs: Date.now,
  readFile: (path) => readable(path, Deno.readFile(path)),
  writeFile: (path, bytes) => readable(path, Deno.writeFile(path, bytes)),
  readInput: () => new Response(Deno.stdin.readable).bytes(),
};

Deno.exit(await run(Deno.args, io));

function sink(stream: typeof Deno.stdout): Sink {
  return {
    isTerminal: stream.isTerminal(),
    columns: () => stream.isTerminal() ? Deno.consoleSize().columns : undefined,
    write: (data) => writeAll(stream, typeof data === "string" ? ENCODER.encode(data) : data),
  };
}

function writeAll(stream: typeof Deno.stdout, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
  } catch (error) {
    // Whoever read along has seen enough, as in `… | head`.
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(EXIT.ok);
    throw error;
  }
}

async function readable<T>(path: string, access: Promise<T>): Promise<T> {
  try {
    return await access;
  } catch (error) {
    throw new Failure(EXIT.usage, `cannot use file ${path}: ${(error as Error).message}`);
  }
}
