import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../core/failure.ts';
import { pageSegments, serviceSegments } from '../../core/public-url.ts';
import { getDocs } from '../../http/contract/system.ts';
import { routePath } from '../../http/route.ts';

/**
 * The dashboard and the API reference, as `dashboard/build.ts` wrote them: one page for all paths of the dashboard, one at
 * `/docs`, and the files that both load. All files are read once into memory, so only files of the build can be requested.
 */
export function dashboardRoutes(app: FastifyInstance, folder: string = buildFolder): void {
  let pending: Promise<Build | null> | null = null;
  const readOnce = () => {
    pending ??= readBuild(folder, app.basePath);
    return pending;
  };

  const sendPage = (reply: FastifyReply, html: string | undefined, contentPolicy: string) => {
    reply.type('text/html; charset=utf-8');
    if (html === undefined)
      return reply.header('content-security-policy', emptyPolicy).send(notBuilt(app.basePath));
    reply.headers({ 'content-security-policy': contentPolicy, 'cache-control': 'no-cache' });
    return reply.headers(securityHeaders).send(html);
  };

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64');
    const html = (await readOnce())?.page
      .replace(noncePlaceholder, nonce)
      .replace(schemePlaceholder, chosenScheme(request));
    return sendPage(reply.header('vary', 'cookie'), html, policy(nonce));
  };
  app.get('/', page);
  for (const name of pageSegments) {
    app.get(`/${name}`, page);
    app.get(`/${name}/*`, page);
  }

  app.get(routePath(getDocs), async (_request, reply) =>
    sendPage(reply, (await readOnce())?.reference, referencePolicy),
  );

  app.unknownPage = (request, reply) =>
    acceptsPage(request) ? page(request, reply.code(404)) : null;

  app.get('/assets/*', async (request, reply) => {
    const name = (request.params as Record<string, string>)['*'] ?? '';
    const file = (await readOnce())?.assets.get(name);
    if (!file) throw notFound('path');
    const accepted = request.headers['accept-encoding'] ?? '';
    const encoding = encodings.find(
      ({ name, pattern }) => file.bytes[name] && pattern.test(accepted),
    );
    if (encoding) reply.header('content-encoding', encoding.name);
    return reply
      .headers({ vary: 'accept-encoding', 'cache-control': 'public, max-age=31536000, immutable' })
      .type(file.type)
      .send(file.bytes[encoding?.name ?? 'identity']);
  });
}

/** Whether the client is a browser that opens a page. Other clients get a JSON error. */
function acceptsPage({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
  const [, first = ''] = url.split(/[/?]/);
  const wantsPage = accept.includes('text/html') && !accept.includes('application/json');
  return method === 'GET' && wantsPage && !nonPages.has(first);
}

const nonPages = new Set<string>(serviceSegments);

const buildFolder = join(import.meta.dirname, '../../../dist/dashboard');

/** Placeholder in `index.html` for the nonce of styles that components create at run time. */
const noncePlaceholder = '{{style-nonce}}';

/** Placeholder for the color scheme, because the page is painted before a script runs. */
const schemePlaceholder = '{{color-scheme}}';

/** The color scheme in the cookie that the page sets; empty for the scheme of the system. */
function chosenScheme({ headers: { cookie = '' } }: FastifyRequest): string {
  return /(?:^|; )cueline-color-scheme=(light|dark)(?:;|$)/.exec(cookie)?.[1] ?? '';
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * The viewer adds `<style>` elements without a nonce, so inline styles are allowed here. Scripts and requests stay with this
 * server, and everything that the page shows comes from our own OpenAPI document.
 */
const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const securityHeaders = {
  // The URL of an invitation is a secret.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

const emptyPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const notBuilt = (basePath: string) => `<!doctype html>
<html lang="en"><title>Cueline</title>
<h1>The dashboard is not built</h1>
<p>The API works: see <a href="${basePath}/openapi.json">its OpenAPI document</a>. To build the dashboard and the API reference, install the
development packages too (<code>npm ci</code>), which builds both, or run <code>npm run build:dashboard</code>. Then restart the server.</p>
</html>
`;

interface Build {
  readonly page: string;
  readonly reference: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly bytes: { readonly identity: Buffer; readonly br?: Buffer; readonly gzip?: Buffer };
}

/** Placeholder for the base path, and how the build begins the addresses of assets: a page has any depth. */
const basePathPlaceholder = '{{base-path}}';
const assetPrefix = '"./assets/';

/** Null without a build. */
async function readBuild(folder: string, basePath: string): Promise<Build | null> {
  const readPage = async (name: string) =>
    (await readFile(join(folder, name), 'utf8'))
      .replaceAll(basePathPlaceholder, basePath)
      .replaceAll(assetPrefix, `"${basePath}/assets/`);
  try {
    const page = await readPage('index.html');
    const reference = await readPage('reference.html');
    const names = await readdir(join(folder, 'assets'));
    const plain = names.filter((name) => mediaTypes[extname(name)] !== undefined);
    const assets = await Promise.all(
      plain.map(
        async (name) => [name, await readAsset(join(folder, 'assets', name), names)] as const,
      ),
    );
    return { page, reference, assets: new Map(assets) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function readAsset(path: string, names: readonly string[]): Promise<Asset> {
  const readCompressed = (suffix: string) =>
    names.includes(basename(path) + suffix) ? readFile(path + suffix) : undefined;
  const [identity, br, gzip] = await Promise.all([
    readFile(path),
    readCompressed('.br'),
    readCompressed('.gz'),
  ]);
  const bytes = { identity, ...(br && { br }), ...(gzip && { gzip }) };
  return { type: mediaTypes[extname(path)] ?? '', bytes };
}

const encodings = [
  { name: 'br', pattern: /\bbr\b/ },
  { name: 'gzip', pattern: /\bgzip\b/ },
] as const;

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
