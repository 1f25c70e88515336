import type { Report } from "./simulation.ts";

/** What happened, as lines: all of it, or what was done and what concerns the broken promise. */
export function storyOf({ violations, story, elapsedMs }: Report, whole: boolean): string {
  const [first] = violations;
  if (first === undefined) {
    return `${story.join("\n")}\nno fault in ${(elapsedMs / 1_000).toFixed(0)} virtual seconds`;
  }
  const concerns = (line: string) =>
    / {2}(- (?!post)|! )/.test(line) || / is (killed|stopped)$| starts$/.test(line) ||
    first.about === undefined || line.includes(first.about);
  return [
    ...(whole ? story : story.filter(concerns)),
    ...violations.map(({ rule, detail, about }) => `broken: ${rule}: ${detail} (${about ?? "-"})`),
  ].join("\n");
}
