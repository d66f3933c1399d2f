import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * Builds the dashboard into `dist/dashboard` and stores a brotli and a gzip copy of each asset, so that the server
 * never compresses. npm runs it after every install. Without the development packages it does nothing, and the server
 * explains that at `/`.
 */
const vite = await import('vite').catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  return null;
});
if (vite) {
  await vite.build({ configFile: join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' });
  const built = join(import.meta.dirname, '../dist/dashboard');
  await buildReference(built);
  await compressAll(join(built, 'assets'));
}

/** Writes the page of `/docs`: one script, which is the viewer's bundle and our settings of it. */
async function buildReference(built: string): Promise<void> {
  const source = join(import.meta.dirname, 'reference');
  const settings = await readFile(join(source, 'reference.js'), 'utf8');
  const script = `${await viewerBundle()}\n${settings}`;
  const hash = createHash('sha256').update(script).digest('base64url').slice(0, 8);
  const name = `reference-${hash}.js`;
  await writeFile(join(built, 'assets', name), script);

  const icon = (await readdir(join(built, 'assets'))).find((name) => /^icon-.*\.svg$/.test(name));
  const page = await readFile(join(source, 'index.html'), 'utf8');
  await writeFile(
    join(built, 'reference.html'),
    page.replace('{{icon}}', `./assets/${icon}`).replace('{{script}}', `./assets/${name}`),
  );
}

/**
 * `@scalar/api-reference` has the same file but installs 280 packages. The Fastify plugin embeds it as text and serves it
 * only over HTTP.
 */
async function viewerBundle(): Promise<string> {
  const { default: fastify } = await import('fastify');
  const { default: viewer } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(viewer, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, body } = await app.inject('/docs/js/scalar.js');
  if (statusCode !== 200)
    throw new Error(`The viewer responded ${statusCode} instead of its bundle.`);
  return body;
}

async function compressAll(folder: string): Promise<void> {
  // A font is compressed already.
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.woff2'));
  await Promise.all(names.map((name) => compress(join(folder, name))));
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  // The highest quality takes ten times as long on the viewer's megabytes and saves a tenth.
  const level = bytes.length > 1_000_000 ? 9 : 11;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: level } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
