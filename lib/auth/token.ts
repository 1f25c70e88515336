import { equalSecrets } from "./secret.ts";

/**
 * Whether an `Authorization` header carries the admin token. Compared as digests, in a time
 * that tells neither content nor length. An unset token lets nobody in.
 */
export function hasToken(authorization: string | null, adminToken: string | undefined): boolean {
  if (adminToken === undefined || authorization === null) return false;
  const match = /^bearer +(\S.*)$/i.exec(authorization);
  return match !== null && equalSecrets(match[1].trim(), adminToken);
}
