const ROOT = new URL("../../", import.meta.url);

/** A file of the repository as text. */
export const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

/** All pages that users read, as paths from the root. */
export const PAGES: readonly string[] = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...[...Deno.readDirSync(new URL("docs", ROOT))].map(({ name }) => `docs/${name}`)
    .filter((path) => path.endsWith(".md")).toSorted(),
];

/** The contents of a page's fenced blocks with exactly this mark behind the fence. */
export function fencedBlocks(page: string, mark: string): string[] {
  const fence = new RegExp(`^\`\`\`${mark}\\n([\\s\\S]*?)^\`\`\``, "gm");
  return [...read(page).matchAll(fence)].map(([, text]) => text);
}
