const HOME = "/admin";
/** Any base will do: what matters is whether the text leaves it. */
const BASE = "http://holdfast.invalid";

/**
 * Where to go after signing in: a page of ours, or the first one. The parsed origin decides,
 * since `/\evil.example` starts with one slash and still leaves.
 */
export function returnTo(text: string | null | undefined): string {
  if (!text || !URL.canParse(text, BASE)) return HOME;
  const { origin, pathname, search } = new URL(text, BASE);
  const ours = origin === BASE && /^\/admin(\/|$)/.test(pathname);
  const signing = /^\/admin\/(sign-|oauth\/)/.test(pathname);
  return ours && !signing ? pathname + search : HOME;
}
