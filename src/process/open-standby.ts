import { openReadConnections, openSampleDb } from '../db/connections.ts';
import { createStandby } from '../db/standby.ts';
import * as limits from '../http/contract/contract-limits.ts';
import type { WiringDeps } from './wiring-deps.ts';

export type StandbyConnections = NonNullable<ReturnType<typeof openStandby>>;

/** Reads from standbys, if they are configured and this process serves the API. */
export function openStandby(
  { role, connection, readConnection, db, config }: WiringDeps,
  onError: (error: unknown) => void,
) {
  if (!readConnection || role === 'worker') return null;
  const sampleDb = openSampleDb(connection, onError);
  const { historyDb, exportDb, close } = openReadConnections({
    connection: readConnection,
    onError,
    exportsMax: limits.exportsMax,
    historyReadsMax: limits.historyReadsMax,
  });
  const reads = createStandby({ db, sampleDb, lagMsMax: config.readLagMs, onError });
  return {
    reads,
    historyDb,
    exportDb,
    async close() {
      reads.stop();
      await Promise.all([close(), sampleDb.destroy()]);
    },
  };
}
