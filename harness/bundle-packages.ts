import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Tests and proofs start hundreds of Cueline processes. Two thirds of the CPU time of a start are spent on resolving and
 * linking the many small modules of packages: 2.3 s without bundles, 1.0 s with them, each with a warm compile cache.
 * So packages are bundled once per lock file, and `use-bundles.ts` redirects the imports of our sources to the bundles.
 * The sources themselves run unchanged.
 */

const packages = [
  '@ai-sdk/openai-compatible',
  '@marcbachmann/cel-js',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  '@pydantic/genai-prices',
  '@smithy/eventstream-codec',
  'ajv',
  'ajv/dist/2020.js',
  'ajv-formats',
  'ajv-formats/dist/formats.js',
  'aws4fetch',
  'better-auth',
  'better-auth/api',
  'better-auth/crypto',
  'better-auth/plugins/generic-oauth',
  'commander',
  'croner',
  'fastify',
  'nodemailer',
  'pg',
  'pino',
  'prom-client',
  're2js',
  'typebox',
  'typebox/compile',
  'undici',
  'yaml',
];

const root = join(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache');

/** Returns the Node option that makes a process use the bundles. */
export async function bundlePackages(): Promise<string> {
  const lock = await readFile(join(root, 'package-lock.json'));
  const recipe = await readFile(import.meta.filename);
  const hash = createHash('sha256').update(lock).update(process.version).update(recipe);
  const name = `packages-${hash.digest('hex').slice(0, 16)}`;
  if (!existsSync(join(cache, name))) await bundle(join(cache, name));
  return `--import=${pathToFileURL(join(import.meta.dirname, 'use-bundles.ts'))}?${name}`;
}

/** Builds in a temporary folder and renames it at the end: other runs may build at the same time. */
async function bundle(folder: string): Promise<void> {
  const { build } = await import('vite');
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'bundling-'));
  const files = new Map(packages.map((name, index) => [name, `package-${index}`]));
  const entries = await Promise.all(
    [...files].map(async ([name, file]) => {
      const entry = join(own, `${file}.entry.js`);
      await writeFile(entry, await entryOf(name));
      return [file, entry] as const;
    }),
  );
  await build({
    configFile: false,
    publicDir: false,
    root,
    logLevel: 'error',
    // Node ignores the field `module`.
    ssr: { noExternal: true, target: 'node', resolve: { mainFields: [] } },
    build: {
      ssr: true,
      outDir: own,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: Object.fromEntries(entries),
        preserveEntrySignatures: 'strict',
        output: { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
      },
    },
  });
  const map = [...files].map(([name, file]) => [name, `${file}.js`]);
  await writeFile(join(own, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(own, 'map.json'), JSON.stringify(Object.fromEntries(map)));
  // Some tests start processes as another user.
  await chmod(own, 0o755);
  await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }));
}

/** Names each export: the bundle of a CommonJS package would export only its default. */
async function entryOf(name: string): Promise<string> {
  const { default: whole, ...named } = (await import(name)) as Record<string, unknown>;
  const names = Object.keys(named).filter((one) => /^[\w$]+$/.test(one));
  const from = `from ${JSON.stringify(name)};`;
  return `${whole === undefined ? '' : `export { default } ${from}\n`}export { ${names.join(', ')} } ${from}\n`;
}
