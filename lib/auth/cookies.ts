import { isLoopback } from "../oauth_settings.ts";

/** What the browser keeps: who is signed in, and which browser started a sign-in. */
export type CookieName = "session" | "oauth";

/**
 * Whether browsers reach the relay over https. `PUBLIC_URL` decides, not the socket, which is
 * plain behind a proxy. Without it only a loopback host is taken for plain http: anywhere else
 * a cookie must not travel in the clear.
 */
export function isSecure(publicUrl: string | undefined, host: string | null): boolean {
  if (publicUrl !== undefined) return new URL(publicUrl).protocol === "https:";
  const origin = `http://${host ?? ""}`;
  return !(URL.canParse(origin) && isLoopback(new URL(origin).hostname));
}

/**
 * Reads one of our cookies. Over https only the `__Host-` one counts, which no other host and
 * no plain connection can have set (RFC 6265bis §4.1.3.2).
 */
export function readCookie(
  header: string | null,
  name: CookieName,
  secure: boolean,
): string | undefined {
  const wanted = `${fullName(name, secure)}=`;
  const found = (header ?? "").split(/; */).find((part) => part.startsWith(wanted));
  const value = found?.slice(wanted.length);
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/** A `Set-Cookie` value. `maxAgeS` 0 makes the browser forget the cookie. */
export function cookie(name: CookieName, value: string, maxAgeS: number, secure: boolean): string {
  const flags = secure ? "; Secure" : "";
  return `${
    fullName(name, secure)
  }=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${flags}`;
}

const fullName = (name: CookieName, secure: boolean) =>
  `${secure ? "__Host-" : ""}holdfast-${name}`;
