import { Buffer } from "node:buffer";
import { bytes } from "./requests.ts";

/** One request of tests/data/providers/vectors.json; that folder's README explains it. */
export interface Vector {
  provider: string;
  name: string;
  secret: string;
  url?: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  body_base64?: string;
  now: number;
  valid: boolean;
  expected_event_id: string | null;
}

export const VECTORS: readonly Vector[] = JSON.parse(
  Deno.readTextFileSync(new URL("../data/providers/vectors.json", import.meta.url)),
);

export function bodyOf(vector: Vector): Uint8Array {
  return vector.body === undefined
    ? new Uint8Array(Buffer.from(vector.body_base64 ?? "", "base64"))
    : bytes(vector.body);
}
