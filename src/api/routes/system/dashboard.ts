import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getDocs } from '../../../contract/system.ts';
import { CallFailure } from '../../../core/failure.ts';
import { routePath } from '../../http/route.ts';

/**
 * The dashboard and the API reference, as `dashboard/build.ts` wrote them: one page for all paths of the dashboard, one at
 * `/docs`, and the files that both load. Everything is read once and kept, so only what the build wrote can be requested.
 */
export function dashboardRoutes(app: FastifyInstance, folder: string = builtFolder): void {
  let read: Promise<Built | null> | null = null;
  const built = () => {
    read ??= readBuilt(folder);
    return read;
  };

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const html = (await built())?.page;
    reply.type('text/html; charset=utf-8');
    if (html === undefined) return reply.header('content-security-policy', closed).send(notBuilt);
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({
        'content-security-policy': policy(nonce),
        'cache-control': 'no-cache',
        vary: 'cookie',
        ...hardened,
      })
      .send(html.replace(noncePlace, nonce).replace(schemePlace, chosenScheme(request)));
  };
  app.get('/', page);
  for (const name of pages) {
    app.get(`/${name}`, page);
    app.get(`/${name}/*`, page);
  }

  app.get(routePath(getDocs), async (_request, reply) => {
    const html = (await built())?.reference;
    reply.type('text/html; charset=utf-8');
    if (html === undefined) return reply.header('content-security-policy', closed).send(notBuilt);
    return reply
      .headers({
        'content-security-policy': referencePolicy,
        'cache-control': 'no-cache',
        ...hardened,
      })
      .send(html);
  });

  app.unknownPage = (request, reply) =>
    asksForPage(request) ? page(request, reply.code(404)) : null;

  app.get('/assets/*', async (request, reply) => {
    const name = (request.params as Record<string, string>)['*'] ?? '';
    const file = (await built())?.assets.get(name);
    if (!file) throw new CallFailure('NOT_FOUND', 'There is no such path.');
    const taken = request.headers['accept-encoding'] ?? '';
    const encoding = encodings.find(({ name, asked }) => file.bytes[name] && asked.test(taken));
    if (encoding) reply.header('content-encoding', encoding.name);
    return reply
      .headers({ vary: 'accept-encoding', 'cache-control': 'public, max-age=31536000, immutable' })
      .type(file.type)
      .send(file.bytes[encoding?.name ?? 'identity']);
  });
}

/** A browser that was sent to an address. Programs that err are told so in the form of every other error. */
function asksForPage({ method, url, headers: { accept = '' } }: FastifyRequest): boolean {
  const [, first = ''] = url.split(/[/?]/);
  const wantsPage = accept.includes('text/html') && !accept.includes('application/json');
  return method === 'GET' && wantsPage && !ofPrograms.has(first);
}

/** The first segments of what is no page, whoever asks for it. */
const ofPrograms = new Set([
  'api',
  'assets',
  'docs',
  'healthz',
  'metrics',
  'openapi.json',
  'readyz',
]);

/** The first segments of the dashboard's paths, for whoever says nothing of what they take. */
export const pages = [
  'agents',
  'prompts',
  'workflows',
  'history',
  'keys',
  'settings',
  'welcome',
  'sign-in',
  'invitations',
] as const;

const builtFolder = join(import.meta.dirname, '../../../../dist/dashboard');

/** What `index.html` has in place of the nonce that lets in the styles which components make at run time. */
const noncePlace = '{{style-nonce}}';

/** What it has in place of the colours that were chosen in this browser: no script has run when they are first seen. */
const schemePlace = '{{color-scheme}}';

/** As the page's own script remembers it; empty where the system's hold. */
function chosenScheme({ headers: { cookie = '' } }: FastifyRequest): string {
  return /(?:^|; )cueline-color-scheme=(light|dark)(?:;|$)/.exec(cookie)?.[1] ?? '';
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
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

const hardened = {
  // An invitation's link is a secret.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

const closed = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const notBuilt = `<!doctype html>
<html lang="en"><title>Cueline</title>
<h1>The dashboard is not built</h1>
<p>The API works: see <a href="/openapi.json">its OpenAPI document</a>. To build the dashboard and the API reference, install the
development packages too (<code>npm ci</code>), which builds both, or run <code>npm run build:dashboard</code>. Then restart the server.</p>
</html>
`;

interface Built {
  readonly page: string;
  readonly reference: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly bytes: { readonly identity: Buffer; readonly br?: Buffer; readonly gzip?: Buffer };
}

/** Null where nothing was built. */
async function readBuilt(folder: string): Promise<Built | null> {
  try {
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    const reference = await readFile(join(folder, 'reference.html'), 'utf8');
    const names = await readdir(join(folder, 'assets'));
    const plain = names.filter((name) => types[extname(name)] !== undefined);
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
  const beside = (suffix: string) =>
    names.includes(basename(path) + suffix) ? readFile(path + suffix) : undefined;
  const [identity, br, gzip] = await Promise.all([readFile(path), beside('.br'), beside('.gz')]);
  const bytes = { identity, ...(br && { br }), ...(gzip && { gzip }) };
  return { type: types[extname(path)] ?? '', bytes };
}

const encodings = [
  { name: 'br', asked: /\bbr\b/ },
  { name: 'gzip', asked: /\bgzip\b/ },
] as const;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
