/** One request of the fuzzer: its bytes, and what a correct reader makes of them. */
export interface Shot {
  bytes: Uint8Array;
  method: string;
  /** Hash of the body that may be stored; where it is absent nothing may be accepted. */
  sha256?: string;
  /** Well formed and complete: it must get an answer while its connection is open. */
  isWhole: boolean;
  /** What stands on its request line, for messages. */
  name: string;
}

/** What is sent on one connection, and how that ends. */
export interface Volley {
  shots: Shot[];
  /** Bytes in these pieces, whose borders are anywhere. */
  pieces: Uint8Array[];
  /** After the last byte: wait for answers, close the sending side, or hang up. */
  end: "wait" | "half-close" | "hang-up";
}

/** What requests may name that exists. */
export interface Surroundings {
  host: string;
  /** Answers to everything that is relayed to it. */
  sinkUrl: string;
  /** Of a signed-in browser, as a `Cookie` value. */
  cookie: string;
  /** Of a delivery that is there. */
  deliveryId: string;
}
