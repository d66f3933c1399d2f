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
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= bytesMin) process.env.TMPDIR = folder;
  } catch {
    // There is none, or it is not ours.
  }
}
