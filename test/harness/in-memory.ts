import { access, constants, statfs } from 'node:fs/promises';

/** Where Linux keeps files in memory. */
const folder = '/dev/shm';
/** More than a whole run has written at its height. */
const bytesMin = 6 * 2 ** 30;

/**
 * Puts temporary files where making one costs least: each database that a test has for itself is nearly a thousand files.
 * Nothing changes where there is no such place, or too little room in it.
 */
export async function keepFilesInMemory(): Promise<void> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < bytesMin) return;
  await access(folder, constants.W_OK).then(
    () => void (process.env.TMPDIR = folder),
    () => {},
  );
}
