/** Reads a request's body piece by piece. */
export interface BodyReader {
  /** The next bytes, `undefined` at the end. They are overwritten by the next read. */
  read(): Promise<Uint8Array | undefined>;
  /** Wants no more. Never rejects. */
  cancel(): void;
}

/** Bytes asked for at once. */
const READ_BYTES = 64 * 1_024;

/**
 * Opens a body for reading, into one buffer where the stream allows it: a large body then
 * leaves no garbage behind. Some servers' streams only hand out buffers of their own.
 */
export function openBody(stream: ReadableStream<Uint8Array>): BodyReader {
  return byteReader(stream) ?? plainReader(stream.getReader());
}

function byteReader(stream: ReadableStream<Uint8Array>): BodyReader | undefined {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  let buffer = new ArrayBuffer(READ_BYTES);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return undefined;
      buffer = value.buffer;
      return value;
    },
    cancel: () => void reader.cancel().catch(() => {}),
  };
}

function plainReader(reader: ReadableStreamDefaultReader<Uint8Array>): BodyReader {
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}),
  };
}
