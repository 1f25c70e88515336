import { fileURLToPath } from "node:url";

/** A file URL as a path of this system. */
export const fromFileUrl = (url: URL): string => fileURLToPath(url);

/** A file URL as a path below `root`, with slashes. */
export const relative = (root: URL, specifier: string): string => specifier.slice(root.href.length);
