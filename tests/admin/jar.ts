import { ADMIN_TOKEN, type Relay } from "../helpers/program.ts";

/**
 * A browser without scripts: keeps cookies, names its origin, follows nothing by itself. Its
 * answers are read whole, so that none has to be closed.
 */
export class Jar {
  readonly cookies = new Map<string, string>();

  /** Where the last answer came from. */
  #at: URL;

  constructor(readonly origin: string) {
    this.#at = new URL(origin);
  }

  /** All cookies as a request carries them. */
  get cookie(): string {
    return Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; ");
  }

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ accept: "text/html" });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    if (this.cookie !== "" && !headers.has("cookie")) headers.set("cookie", this.cookie);
    this.#at = new URL(url, this.origin);
    const response = await fetch(this.#at, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const bytes = await response.arrayBuffer();
    return new Response(bytes.byteLength === 0 ? null : bytes, {
      status: response.status,
      headers: response.headers,
    });
  }

  /** Sends a form as a page of this origin would. */
  post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    return this.fetch(url, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { origin: this.origin, "sec-fetch-site": "same-origin", ...headers },
    });
  }

  /** Follows redirects, also to other hosts, until something else is answered. */
  async follow(response: Response): Promise<Response> {
    let at = response;
    for (let hops = 0; hops < 20; hops++) {
      const location = at.headers.get("location");
      if (location === null) return at;
      at = await this.fetch(new URL(location, this.#at));
    }
    throw new Error("too many redirects");
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined) return;
    if (/max-age=0/i.test(line) || value === "") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Signs in with the admin token. */
export async function signedIn(relay: Relay): Promise<Jar> {
  const jar = new Jar(relay.origin);
  const response = await jar.post("/admin/sign-in", { token: ADMIN_TOKEN });
  if (response.status !== 303) throw new Error(`sign-in answered ${response.status}`);
  return jar;
}

/** The text of a page. */
export async function html(jar: Jar, path: string): Promise<string> {
  return await (await jar.fetch(path)).text();
}

/** The token that the forms of a page carry. */
export async function csrfOf(jar: Jar, path = "/admin"): Promise<string> {
  return /name="csrf" value="([^"]+)"/.exec(await html(jar, path))?.[1] ?? "";
}
