const S = 1_000, M = 60 * S, H = 60 * M, D = 24 * H;

const number = new Intl.NumberFormat("en");

/** A count with its thousands apart. */
export const count = (n: number): string => number.format(n);

/** A count that may have ended early. */
export const countUpTo = (n: number, most: number): string => n >= most ? `${count(n)}+` : count(n);

/** A duration in its largest unit, for a glance. */
export function duration(ms: number): string {
  if (ms < S) return `${Math.round(ms)} ms`;
  if (ms < M) return `${+(ms / S).toFixed(ms < 10 * S ? 1 : 0)} s`;
  if (ms < H) return `${Math.floor(ms / M)} min`;
  if (ms < 2 * D) return `${Math.floor(ms / H)} h`;
  return `${Math.floor(ms / D)} d`;
}

/** A size in bytes for a glance. */
export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** How far an instant is from now, in words. */
export function relative(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < S) return "just now";
  return ms > 0 ? `${duration(whole(ms))} ago` : `in ${duration(whole(-ms))}`;
}

const whole = (ms: number) => ms < M ? Math.floor(ms / S) * S : ms;

/** An instant as a person compares it: relative, the exact one on hover. */
export function Time({ at, nowMs }: { at: string; nowMs: number }) {
  return <time dateTime={at} title={at}>{relative(Date.parse(at), nowMs)}</time>;
}

const PLAIN_HIDDEN =
  // deno-lint-ignore no-control-regex -- these are the characters that must not act
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * A stranger's text with what cannot be seen made visible: control characters, zero-width
 * ones, and those that turn the direction of writing.
 */
export function visible(text: string): string {
  return text.replace(
    PLAIN_HIDDEN,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).padStart(4, "0")}}`,
  );
}

/** Text cut to a length that fits a row. */
export function short(text: string, most = 60): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
