import type { Context } from "hono";
import type { Access, Session } from "../../lib/auth/access.ts";
import type { Relay } from "../../lib/flow/relay.ts";
import type { Remote } from "../ingest.ts";

/** What a request of the admin page carries along. */
export interface AdminEnv {
  Bindings: { remote: Remote };
  Variables: { session: Session };
}

export type AdminContext = Context<AdminEnv>;

export interface AdminParts {
  relay: Relay;
  access: Access;
}

/** Where senders and browsers reach the relay. */
export function originOf({ access: { settings } }: AdminParts, { req }: AdminContext): string {
  return settings.publicUrl ?? new URL(req.url).origin;
}
