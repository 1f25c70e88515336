/**
 * How far a listener has come: for every process the number of its last event. As text it
 * is the `id` of a server-sent event, which a listener sends back as `Last-Event-ID`; so
 * any process can go on where another one stopped, with no event missed or told twice.
 */
export type Position = Map<string, number>;

/** More processes than this within ten minutes are not told apart; also bounds a header. */
const MAX_OWNERS = 100;
const MAX_CHARS = 4_096;
const PART = /^([A-Za-z0-9_-]{1,32})\.([0-9a-z]{1,9})$/;

/** Writes a position as `owner.number~owner.number`, numbers in base 36. */
export function positionText(position: Position): string {
  const parts = Array.from(position, ([owner, seq]) => `${owner}.${seq.toString(36)}`);
  return parts.slice(-MAX_OWNERS).join("~");
}

/** Reads what `positionText` wrote; `undefined` where the text is something else. */
export function parsePosition(text: string): Position | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const position: Position = new Map();
  for (const part of text.split("~")) {
    const [, owner, seq] = PART.exec(part) ?? [];
    if (owner === undefined) return undefined;
    position.set(owner, parseInt(seq, 36));
  }
  return position;
}
