import { chmod, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartupFailure } from '../../core/startup-failure.ts';

/**
 * PostgreSQL refuses to run as root. If Cueline runs as root, PostgreSQL runs as an unprivileged account that exists
 * already. Cueline never creates accounts: that is up to the administrator.
 */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The first existing one is used. `initdb` needs an account name, so a bare uid is not enough. */
const names = ['cueline', 'postgres', '_postgres', 'nobody'];

/** The account to run PostgreSQL as; null for the account of this process, if it is not root. */
export async function accountFor(cluster: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  // A cluster that another user created keeps its owner when root starts it.
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

/** Whether the account can enter a directory: it needs the execute bit there and on all parents. ACLs are ignored. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(directory);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = dirname(directory);
  return parent === directory || canEnter(account, parent);
}

/** Makes the account the owner of a directory tree, for example after root restored a backup. */
export async function changeOwner(account: Account, tree: string): Promise<void> {
  for (const entry of await readdir(tree, { recursive: true })) {
    await lchown(join(tree, entry), account.uid, account.gid);
  }
  await lchown(tree, account.uid, account.gid);
  await chmod(tree, 0o700);
}
