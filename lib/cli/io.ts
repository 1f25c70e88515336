/** The world as commands see it; only `cli.ts` and tests hold a real one. */
export interface Io {
  env(name: string): string | undefined;
  out: Sink;
  err: Sink;
  nowMs(): number;
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  writeFile(path: string, bytes: ReadableStream<Uint8Array>): Promise<void>;
  readInput(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Standard output or standard error. */
export interface Sink {
  isTerminal: boolean;
  /** Characters a line; `undefined` where it is no terminal. */
  columns(): number | undefined;
  write(data: string | Uint8Array): void;
}
