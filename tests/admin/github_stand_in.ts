import { createHash } from "node:crypto";

/** What the stand-in GitHub says of whoever signs in. */
export interface StandInUser {
  id: number;
  login: string;
  emails?: { email: string; verified: boolean }[];
}

/** A GitHub that lets everybody in at once as `user`; its web pages and its API on one port. */
export class GithubStandIn implements AsyncDisposable {
  user: StandInUser = { id: 1, login: "octo-admin" };
  /** Challenges by code, to check the PKCE verifier as GitHub does. */
  readonly #challenges = new Map<string, string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#answer(request),
    );
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/login/oauth/authorize") return this.#authorize(searchParams);
    if (pathname === "/login/oauth/access_token") {
      return await this.#token(await request.formData());
    }
    await request.body?.cancel();
    if (request.headers.get("authorization") !== "Bearer gho_1") {
      return new Response(null, { status: 401 });
    }
    if (pathname === "/user") return Response.json(this.user);
    return Response.json(this.user.emails ?? []);
  }

  #authorize(query: URLSearchParams): Response {
    const code = crypto.randomUUID();
    this.#challenges.set(code, query.get("code_challenge") ?? "");
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  async #token(form: FormData): Promise<Response> {
    const code = String(form.get("code"));
    const verifier = String(form.get("code_verifier"));
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const fits = this.#challenges.get(code) === challenge;
    this.#challenges.delete(code);
    // GitHub answers 200 for errors too (docs.github.com, "Troubleshooting OAuth app access token").
    return Response.json(
      fits
        ? { access_token: "gho_1", scope: "read:user", token_type: "bearer" }
        : { error: "bad_verification_code" },
    );
  }
}
