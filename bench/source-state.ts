import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onInterruption } from '../harness/interruption.ts';

/** A state of the source in a folder of its own, with the packages of its lock file. */
export interface SourceState {
  readonly folder: string;
  remove(): Promise<void>;
}

const root = join(import.meta.dirname, '..');

export async function checkOut(revision: string): Promise<SourceState> {
  const parent = await mkdtemp(join(tmpdir(), 'cueline-state-'));
  const folder = join(parent, 'cueline');
  const remove = async () => {
    unregister();
    await rm(parent, { recursive: true, force: true });
    await run('git', ['worktree', 'prune'], root);
  };
  const unregister = onInterruption(remove);
  try {
    await run('git', ['worktree', 'add', '--detach', folder, revision], root);
    await installPackages(folder);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}

async function installPackages(folder: string): Promise<void> {
  const lockOf = (of: string) => readFile(join(of, 'package-lock.json'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(root))) {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  } else await run('npm', ['ci', '--ignore-scripts'], folder);
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  await promisify(execFile)(command, args, { cwd });
}
