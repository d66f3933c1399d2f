import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Returns the secret in a file that only its owner may read; generates 256 bits as base64url on first use.
 * Needs the lock of the data directory: two concurrent callers would generate two secrets.
 */
export async function storedSecret(dataDir: string, name: string): Promise<string> {
  const path = join(dataDir, name);
  const existing = await readStoredSecret(dataDir, name);
  if (existing) {
    await chmod(path, 0o600);
    return existing;
  }
  const secret = randomBytes(32).toString('base64url');
  await writeFile(`${path}.new`, `${secret}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
  return secret;
}

/** The secret; null if it does not exist yet. */
export async function readStoredSecret(dataDir: string, name: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, name), 'utf8')).trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A rename survives a power failure only after its directory is flushed. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
