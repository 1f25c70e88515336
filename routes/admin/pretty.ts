/** Deeper than this, indentation would grow a body many times over. */
const MOST_DEPTH = 40;

/** One token of valid JSON: a string, a mark, or a number or word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * JSON with line breaks and indentation, for reading only. Numbers, keys and escapes stay as
 * they were written: parsing and writing again would round large ids and drop doubled keys.
 * `undefined` for what is no JSON, or is nested too deep.
 */
export function pretty(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let out = "";
  for (const [index, token] of tokens.entries()) {
    if (token === "{" || token === "[") {
      if (++depth > MOST_DEPTH) return undefined;
      out += isClosing(tokens[index + 1]) ? token : `${token}\n${indent(depth)}`;
    } else if (isClosing(token)) {
      depth--;
      out += isOpening(tokens[index - 1]) ? token : `\n${indent(depth)}${token}`;
    } else if (token === ",") out += `,\n${indent(depth)}`;
    else out += token === ":" ? ": " : token;
  }
  return out;
}

const indent = (depth: number) => "  ".repeat(depth);
const isOpening = (token: string | undefined) => token === "{" || token === "[";
const isClosing = (token: string | undefined) => token === "}" || token === "]";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
