import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestDatabase } from '../harness/database.ts';
import { onInterruption } from '../harness/interruption.ts';
import { migrateAt } from '../src/cli/server/open-database.ts';
import { tryConnect } from '../src/db/connect.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { readPostmaster } from '../src/db/embedded/postmaster.ts';

/** A PostgreSQL that belongs to one claim, which may kill it. */
export interface OwnDatabase extends TestDatabase {
  /**
   * Ends it, by SIGINT (fast shutdown) or SIGKILL, and waits for the automatic restart. Resolves with the time at which
   * it accepts connections again, by the monotonic clock.
   */
  restart(signal: 'SIGINT' | 'SIGKILL'): Promise<number>;
}

export async function startOwnDatabase(): Promise<OwnDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-proof-'));
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  const embedded = await startEmbedded({ dataDir });
  const { connection } = embedded;
  const drop = async () => {
    await embedded.stop();
    await rm(directory, { recursive: true, force: true });
    ignoreInterruption();
  };
  const ignoreInterruption = onInterruption(drop);
  await migrateAt(connection);
  return {
    connection,
    drop,
    async restart(signal) {
      const ended = new Promise((resolve) => embedded.onExit(resolve));
      const postmaster = await readPostmaster(join(dataDir, 'postgres'));
      process.kill(postmaster?.pid ?? Number.NaN, signal);
      await ended;
      while ((await tryConnect(connection)) !== null) await wait(10);
      return performance.now();
    },
  };
}
