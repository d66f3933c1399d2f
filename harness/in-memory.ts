import { access, constants, statfs } from 'node:fs/promises';

/** A file system in memory on Linux. */
const folder = '/dev/shm';
/** Exceeds the peak of a test run. */
const bytesMin = 6 * 2 ** 30;

/**
 * Puts temporary files into memory: each test database consists of nearly a thousand files. Does nothing if there is no
 * such file system, or too little space.
 */
export async function keepFilesInMemory(): Promise<void> {
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= bytesMin) process.env.TMPDIR = folder;
  } catch {
    // It does not exist or is not writable.
  }
}
