import { lexer, type Token } from "marked";
import { readOwn } from "../files.ts";
import { plain } from "./markdown.ts";

/** Where the guide is served. */
export const GUIDE = "/docs/guide";
/** Its first page, which names all others; GitHub shows it with the folder. */
export const INDEX = "README";

/** Pages that belong together. */
export interface Chapter {
  name: string;
  pages: { name: string; href: string }[];
}

/** A page's text; `undefined` where there is none of that name. */
export async function readPage(name: string): Promise<string | undefined> {
  if (!/^[a-z][a-z-]{0,63}$/.test(name) && name !== INDEX) return undefined;
  const bytes = await readOwn(`docs/${name}.md`);
  return bytes && new TextDecoder().decode(bytes);
}

/** Where a link of a page leads here; `undefined` for what lies outside of `docs/`. */
export function servedAt(href: string): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href;
  const [, page, anchor] = /^([A-Za-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (page !== undefined) return pagePath(page) + (anchor ?? "");
  return /^images\/[a-z-]+\.png$/.test(href) ? `${GUIDE}/${href}` : undefined;
}

/** Where a page is served. */
export const pagePath = (page: string): string => page === INDEX ? GUIDE : `${GUIDE}/${page}`;

/** The chapters that the first page lists: a heading each, and the links below it. */
export function chaptersOf(index: string): Chapter[] {
  const chapters: Chapter[] = [];
  for (const token of lexer(index)) {
    if (token.type === "heading" && token.depth === 2) {
      chapters.push({ name: token.text, pages: [] });
    } else if (token.type === "list") chapters.at(-1)?.pages.push(...linksIn(token.items));
  }
  return chapters;
}

function linksIn(tokens: readonly Token[]): Chapter["pages"] {
  return tokens.flatMap((token) => {
    if (token.type !== "link") return "tokens" in token ? linksIn(token.tokens ?? []) : [];
    const href = servedAt(token.href);
    return href === undefined ? [] : [{ name: plain(token.tokens ?? []), href }];
  });
}
