import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * A secret that is made once and kept in a file only its owner may read: 256 bits as base64url.
 * For the holder of the data directory's lock: two at once would make two.
 */
export async function storedSecret(dataDir: string, name: string): Promise<string> {
  const path = join(dataDir, name);
  const kept = await readStoredSecret(dataDir, name);
  if (kept) {
    await chmod(path, 0o600);
    return kept;
  }
  const secret = randomBytes(32).toString('base64url');
  await writeFile(`${path}.new`, `${secret}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
  return secret;
}

/** The secret, or `null` where there is none yet. */
export async function readStoredSecret(dataDir: string, name: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, name), 'utf8')).trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A rename outlasts a loss of power only once its directory is on disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
