import { chmod, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartupFailure } from '../../core/startup-failure.ts';

/**
 * PostgreSQL refuses to run as root, so root runs it as an account without rights.
 * No account is ever made: that is the administrator's to do.
 */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The first that exists. `initdb` insists on an account with a name, so a bare number will not do. */
const names = ['cueline', 'postgres', '_postgres', 'nobody'];

/** Whose process PostgreSQL must be: `null` for our own, which is any but root's. */
export async function accountFor(cluster: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  // A cluster that a user of this machine made stays theirs when root starts it.
  const owner = await stat(cluster).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const line = lines.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(line?.[2]), Number(line?.[3])];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new StartupFailure(
    `PostgreSQL does not run as root, and none of the accounts ${names.join(', ')} exists. ` +
      'Start Cueline as another user, or set DATABASE_URL.',
  );
}

/** Whether the account gets into a directory: every folder above it must let it through, by the plain mode bits. */
export async function reaches(account: Account, directory: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(directory);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = dirname(directory);
  return parent === directory || reaches(account, parent);
}

/** Hands a tree over to the account, as a copy that root made (a restored backup, say) needs it. */
export async function handOver(account: Account, tree: string): Promise<void> {
  for (const entry of await readdir(tree, { recursive: true })) {
    await lchown(join(tree, entry), account.uid, account.gid);
  }
  await lchown(tree, account.uid, account.gid);
  await chmod(tree, 0o700);
}
