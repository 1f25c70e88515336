import { jsonText } from "../observe/json_text.ts";
import type { Sink } from "./io.ts";
import { type Paint, painted, plain } from "./text.ts";

/** Where a command's answer goes: text for a person, or JSON for a program. */
export class Output {
  readonly #sink: Sink;
  /** Whether a program reads along: then JSON is all that is written. */
  readonly json: boolean;
  readonly paint: Paint;

  /** Colours are for terminals only, and not where the person wants none (no-color.org). */
  constructor(sink: Sink, options: { json: boolean; noColour: boolean }) {
    this.#sink = sink;
    this.json = options.json;
    this.paint = sink.isTerminal && !options.noColour ? painted : plain;
  }

  get isTerminal(): boolean {
    return this.#sink.isTerminal;
  }

  /** Writes text as it is. What came from outside must have gone through `safe`. */
  text(text: string): void {
    this.#sink.write(text);
  }

  /** Writes a value as one line of JSON that steers no terminal. */
  value(value: unknown): void {
    this.#sink.write(`${jsonText(value)}\n`);
  }

  bytes(bytes: Uint8Array): void {
    this.#sink.write(bytes);
  }
}
