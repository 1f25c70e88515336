/** Whether a path belongs to the operator's surface. It is asked before that is loaded. */
export function isOperator(path: string): boolean {
  return /^\/(?:(?:api|dead-letters|docs)(?:\/|$)|openapi\.json$)/.test(path);
}

/** Whether a path belongs to the admin page. */
export function isAdmin(path: string): boolean {
  return /^\/admin(?:\/|$)/.test(path);
}

/** Whether a path belongs to the guide, which lies below the API's page and is for everybody. */
export function isGuide(path: string): boolean {
  return /^\/docs\/guide(?:\/|$)/.test(path);
}
