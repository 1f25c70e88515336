import type { Outlet } from "./listener.ts";

/** What one slow reader may make us hold; beyond, it is cut off and can resume. */
const MAX_BYTES = 256 * 1024;

/** A stream of server-sent events as the body of an answer. */
export class EventStream implements Outlet {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #roomy = Promise.withResolvers<void>();
  #onCancel: () => void = () => {};
  #ended = false;

  constructor() {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => {
        this.#roomy.resolve();
        this.#roomy = Promise.withResolvers();
      },
      cancel: () => this.#end(),
    }, { highWaterMark: MAX_BYTES, size: (chunk) => chunk.byteLength });
  }

  /** `then` runs once when the reader is gone; at once if it already is. */
  onCancel(then: () => void): void {
    if (this.#ended) then();
    else this.#onCancel = then;
  }

  write(text: string): boolean {
    if (this.#ended) return false;
    this.#controller.enqueue(ENCODER.encode(text));
    return this.#hasRoom();
  }

  async ready(): Promise<void> {
    while (!this.#ended && !this.#hasRoom()) await this.#roomy.promise;
  }

  end(): void {
    if (this.#ended) return;
    this.#controller.close();
    this.#end();
  }

  #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0;
  }

  #end(): void {
    this.#ended = true;
    this.#roomy.resolve();
    this.#onCancel();
  }
}

const ENCODER = new TextEncoder();
