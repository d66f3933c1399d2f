import { createHash } from 'node:crypto';
import { inline, prose, toHtml } from './docs-html.ts';
import { article, type Call, type Document } from './docs-operation.ts';
import { docsStyle } from './docs-style.ts';

/** For `style-src` of the page's content security policy, which can forbid everything else. */
export const docsStyleHash = `sha256-${createHash('sha256').update(docsStyle).digest('base64')}`;

/** The reference page, whole: no script, no request to anywhere, nothing that is not in the OpenAPI document. */
export function docsPage(openapi: object): string {
  const document = openapi as Document;
  const { title, version, description } = document.info;
  const groups = groupsOf(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${toHtml(title)} API reference</title>
<style>${docsStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="page">
<nav class="side" aria-label="Operations">
<p class="brand"><a href="#content">${toHtml(title)}</a><span>${toHtml(version)}</span></p>
${navigation(groups)}
</nav>
<main id="content">
<div class="intro">
<h1>${toHtml(title)} API</h1>
<p class="lead">Version ${toHtml(version)}. Also as <a href="openapi.json">OpenAPI 3.1</a>.</p>
<details class="contents"><summary>All operations</summary><nav aria-label="All operations">${navigation(groups)}</nav></details>
${prose(description)}
<p>The examples run as they stand after <code>export CUELINE_URL=… CUELINE_KEY=…</code></p>
</div>
${groups.map((group) => section(group, document)).join('\n')}
</main>
</div>
</body>
</html>
`;
}

interface Group {
  readonly name: string;
  readonly description: string;
  readonly calls: readonly Call[];
}

function groupsOf(document: Document): Group[] {
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    calls: calls.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function navigation(groups: readonly Group[]): string {
  const one = ({ method, operation }: Call) =>
    `<li><a href="#${toHtml(operation.operationId)}"><b class="method ${method}">${short[method] ?? method.toUpperCase()}</b><span>${inline(operation.summary)}</span></a></li>`;
  return groups
    .map(
      ({ name, calls }) =>
        `<h2><a href="#${toHtml(name)}">${toHtml(name)}</a></h2>\n<ul>\n${calls.map(one).join('\n')}\n</ul>`,
    )
    .join('\n');
}

/** So that all of them fit one narrow column. */
const short: Readonly<Record<string, string>> = { delete: 'DEL' };

function section({ name, description, calls }: Group, document: Document): string {
  return `<section class="group" id="${toHtml(name)}" aria-labelledby="${toHtml(name)}-title">
<h2 id="${toHtml(name)}-title">${toHtml(name)}</h2>
<p>${inline(description)}</p>
${calls.map((call) => article(call, document)).join('\n')}
</section>`;
}
