import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestDatabase } from '../harness/database.ts';
import { migrateAt } from '../src/cli/server/open-database.ts';
import { tryConnect } from '../src/store/connection/connect.ts';
import { readPostmaster } from '../src/store/embedded/postmaster.ts';
import { startEmbedded } from '../src/store/embedded.ts';

/** A PostgreSQL of a claim's own, which it may end as it likes. */
export interface OwnDatabase extends TestDatabase {
  /**
   * Ends it, by SIGINT (fast, all sessions are told) or SIGKILL, and lets it be started again. Resolves with the moment
   * from which it takes connections, by the monotonic clock.
   */
  restart(signal: 'SIGINT' | 'SIGKILL'): Promise<number>;
}

export async function startOwnDatabase(): Promise<OwnDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-proof-'));
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  const embedded = await startEmbedded({ dataDir });
  const { connection } = embedded;
  await migrateAt(connection);
  return {
    connection,
    async drop() {
      await embedded.stop();
      await rm(directory, { recursive: true, force: true });
    },
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
