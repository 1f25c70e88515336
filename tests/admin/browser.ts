import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Where Debian and others put it. */
const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const found = PATHS.find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
});

/** Whether there is a Chromium; where it is missing, its tests are counted as ignored. */
export const HAS_CHROMIUM = found !== undefined;
if (!HAS_CHROMIUM) console.warn("chromium is not installed: the tests that need it are ignored");

/** A Chromium with a profile of its own that reaches this machine and nothing else. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: found,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });
}

export type { Browser, BrowserContext, Page };

/** Bundles the islands as they are now. Where that fails, those of an earlier build will do. */
export async function buildIslands(): Promise<void> {
  const root = new URL("../../", import.meta.url);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "build:page"],
    cwd: root,
  }).output();
  if (success) return;
  const isThere = await Deno.stat(new URL("dist/admin.js", root)).then(() => true, () => false);
  if (!isThere) throw new Error(`cannot bundle the islands: ${new TextDecoder().decode(stderr)}`);
}
