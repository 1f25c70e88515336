import type { AllowedUsers } from "../oauth_settings.ts";
import type { Account } from "../store/sessions.ts";

/** Whether `ADMIN_USERS` has an account: by its id, its login or an address that is its own. */
export function isAllowed({ id, login, verifiedEmails }: Account, users: AllowedUsers): boolean {
  return users.ids.has(id) || isByLogin(login, users) ||
    verifiedEmails.some((email) => users.emails.has(email.toLowerCase()));
}

/** Whether a login is in the list. GitHub's logins are the same in any case. */
export function isByLogin(login: string | undefined, users: AllowedUsers): boolean {
  return login !== undefined && users.logins.has(login.toLowerCase());
}
