import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Some packages are hundreds of small modules each, and finding and linking them is two thirds of the time that a process
 * of ours takes to start; a run of the tests starts hundreds of them. Here they are put together once for each lock file,
 * as any bundler does, and `bundled.ts` lets our sources find them. The sources themselves run as they are.
 */

/** Only such as are ECMAScript modules: of others a bundle would lose the names of what they export. */
const packages = [
  '@ai-sdk/openai-compatible',
  '@opentelemetry/api',
  'better-auth',
  'better-auth/api',
  'better-auth/crypto',
  'better-auth/plugins/generic-oauth',
  'kysely',
  'typebox',
  'typebox/compile',
];

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache');

/** The option for Node that makes a process, and what it starts, take them from there. */
export async function bundlePackages(): Promise<string> {
  const lock = await readFile(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).update(process.version);
  const name = `packages-${hash.update(packages.join()).digest('hex').slice(0, 16)}`;
  if (!existsSync(join(cache, name))) await bundle(join(cache, name));
  return `--import=${pathToFileURL(join(import.meta.dirname, 'bundled.ts'))}?${name}`;
}

/** Into a folder of its own that is put in place whole: runs may begin side by side. */
async function bundle(folder: string): Promise<void> {
  const { build } = await import('vite');
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'bundling-'));
  const files = new Map(packages.map((name, index) => [name, `package-${index}`]));
  await build({
    configFile: false,
    publicDir: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: own,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: Object.fromEntries([...files].map(([name, file]) => [file, name])),
        preserveEntrySignatures: 'strict',
        output: { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
      },
    },
  });
  const map = [...files].map(([name, file]) => [name, `${file}.js`]);
  await writeFile(join(own, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(own, 'map.json'), JSON.stringify(Object.fromEntries(map)));
  // Some processes of the tests are another user's.
  await chmod(own, 0o755);
  await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }));
}
