import { createServer, type Server } from "node:http";
import Provider from "oidc-provider";

export interface OidcClient {
  clientId: string;
  clientSecret: string;
  redirectUrl: string;
}

/**
 * A real OpenID provider on loopback with its own sign-in form. Any name may sign in; its
 * address is `<name>@example.com`, verified unless the name begins with "fake".
 */
export class OidcStandIn implements AsyncDisposable {
  readonly issuer: string;
  readonly #server: Server;

  private constructor(issuer: string, server: Server) {
    this.issuer = issuer;
    this.#server = server;
  }

  static async start(port: number, client: OidcClient): Promise<OidcStandIn> {
    const issuer = `http://127.0.0.1:${port}`;
    const provider = new Provider(issuer, {
      clients: [{
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUrl],
      }],
      cookies: { keys: ["keys-of-a-test"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      features: { devInteractions: { enabled: true } },
      ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          email: `${id}@example.com`,
          email_verified: !id.startsWith("fake"),
        }),
      }),
    });
    const server = createServer(provider.callback());
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return new OidcStandIn(issuer, server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
