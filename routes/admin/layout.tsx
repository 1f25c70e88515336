import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { nameOf } from "../../lib/auth/access.ts";
import { CSRF_FIELD, csrfToken } from "../../lib/auth/forgery.ts";
import type { Problem } from "../../lib/errors.ts";
import { PROBLEMS } from "../../lib/errors.ts";
import { VERSION } from "../../lib/version.ts";
import { hasIslands } from "./assets.ts";
import type { AdminContext } from "./context.ts";

const PAGES = [
  ["/admin", "Overview"],
  ["/admin/deliveries", "Deliveries"],
  ["/admin/dead-letters", "Dead letters"],
  ["/admin/endpoints", "Endpoints"],
  ["/admin/github", "GitHub"],
] as const;

interface PageOptions {
  title: string;
  status?: 200 | 400 | 401 | 403 | 404 | 409 | 429 | 503;
}

/** Answers with a page: the frame around `children`, for whoever is signed in. */
export function page(context: AdminContext, { title, status }: PageOptions, children: unknown) {
  const { session } = context.var;
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Holdfast`}</title>
        <link rel="icon" href="/admin/static/icon.svg" />
        <link rel="stylesheet" href="/admin/static/admin.css" />
        {hasIslands() && <script type="module" src="/admin/static/admin.js" />}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="/admin">
            <img src="/admin/static/icon.svg" alt="" width="20" height="20" />
            Holdfast
          </a>
          {session !== undefined && <Navigation path={context.req.path} />}
          {session !== undefined && (
            <form method="post" action="/admin/sign-out" class="who">
              <span>{nameOf(session.who)}</span>
              <CsrfField context={context} />
              <button type="submit">Sign out</button>
            </form>
          )}
        </header>
        <main id="main" tabIndex={-1}>{children as ComponentChildren}</main>
        <footer>
          Holdfast {VERSION}
          <a href="/docs/guide">Guide</a>
          {session !== undefined && <a href="/docs">API</a>}
          {!hasIslands() && <span>Not live: run “deno task build:page”.</span>}
        </footer>
      </body>
    </html>
  );
  return context.html(`<!doctype html>${renderToString(document)}`, status ?? 200);
}

function Navigation({ path }: { path: string }) {
  return (
    <nav aria-label="Pages">
      {PAGES.map(([href, name]) => (
        <a key={href} href={href} aria-current={isWithin(path, href) ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

const isWithin = (path: string, href: string) =>
  path === href || (href !== "/admin" && path.startsWith(`${href}/`));

/** The session's token against forged requests, in a form. */
export function CsrfField({ context }: { context: AdminContext }) {
  return <input type="hidden" name={CSRF_FIELD} value={csrfToken(context.var.session.secret)} />;
}

/** Answers a refusal with a page that says what is wrong. */
export function problemPage(context: AdminContext, { code, detail }: Problem) {
  const [status, title] = PROBLEMS[code];
  return page(
    context,
    { title, status: status as PageOptions["status"] },
    <section class="card narrow">
      <h1>{title}</h1>
      <p>{detail.charAt(0).toUpperCase() + detail.slice(1)}.</p>
      <p>
        <a href="/admin">Back to the overview</a>
      </p>
    </section>,
  );
}
