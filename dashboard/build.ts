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
  await compressAll(join(import.meta.dirname, '../dist/dashboard/assets'));
}

async function compressAll(folder: string): Promise<void> {
  const names = await readdir(folder);
  await Promise.all(names.map((name) => compress(join(folder, name))));
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
