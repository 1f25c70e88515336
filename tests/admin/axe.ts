import type { Page } from "playwright-core";
import axe from "axe-core";

/** What `axe-core` has against the page as it is now, one line a fault. */
export async function axeFaults(page: Page): Promise<string[]> {
  // The page's own policy lets no foreign script in; the debugger's protocol may evaluate.
  await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
    );
  });
}
