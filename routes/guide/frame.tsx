import { renderToString } from "preact-render-to-string";
import { VERSION } from "../../lib/version.ts";
import { type Chapter, GUIDE } from "./contents.ts";
import type { Rendered } from "./markdown.ts";

interface PageProps {
  page: Rendered;
  chapters: readonly Chapter[];
  path: string;
  /** Whether the API's page and the admin page are open to anybody. */
  hasOperators: boolean;
}

/** A page of the guide with the frame around it. */
export function guidePage(props: PageProps): string {
  return `<!doctype html>${renderToString(<Document {...props} />)}`;
}

function Document({ page, chapters, path, hasOperators }: PageProps) {
  const { title, html } = page;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{path === GUIDE ? "Holdfast · Guide" : `${title} · Holdfast`}</title>
        <link rel="icon" href={`${GUIDE}/static/icon.svg`} />
        <link rel="stylesheet" href={`${GUIDE}/static/admin.css`} />
        <link rel="stylesheet" href={`${GUIDE}/static/guide.css`} />
      </head>
      <body class="guide">
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href={GUIDE}>
            <img src={`${GUIDE}/static/icon.svg`} alt="" width="20" height="20" />
            Holdfast
          </a>
          <nav aria-label="Site">
            <a href={GUIDE} aria-current="true">Guide</a>
            {hasOperators && <a href="/docs">API</a>}
            {hasOperators && <a href="/admin">Admin page</a>}
            <a class="to-pages" href="#pages">All pages</a>
          </nav>
        </header>
        <div class="columns">
          <main id="main" tabIndex={-1}>
            <article dangerouslySetInnerHTML={{ __html: html }} />
          </main>
          <nav id="pages" aria-label="Pages" tabIndex={-1}>
            {chapters.map((chapter) => (
              <Pages key={chapter.name} chapter={chapter} path={path} sections={page.sections} />
            ))}
          </nav>
        </div>
        <footer>Holdfast {VERSION}</footer>
      </body>
    </html>
  );
}

interface PagesProps {
  chapter: Chapter;
  path: string;
  sections: Rendered["sections"];
}

/** A chapter's pages; below the one that is shown, its sections. */
function Pages({ chapter: { name, pages }, path, sections }: PagesProps) {
  return (
    <>
      <h2>{name}</h2>
      <ul>
        {pages.map(({ name, href }) => (
          <li key={href}>
            <a href={href} aria-current={href === path ? "page" : undefined}>{name}</a>
            {href === path && sections.length > 0 && (
              <ul>
                {sections.map(({ name, slug }) => (
                  <li key={slug}>
                    <a href={`#${slug}`}>{name}</a>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
