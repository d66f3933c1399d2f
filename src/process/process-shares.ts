import { type SharedResource, Shares } from '../core/shares.ts';
import { singleConnectionsMax } from '../db/connections.ts';
import type { Database } from '../db/database.ts';
import * as limits from '../http/contract/contract-limits.ts';

export type AllShares = Readonly<Record<SharedResource, Shares>>;

/** A fifth of the pool stays for work that belongs to no workspace: sign-ins, sessions, maintenance. */
const poolPart = 0.8;

/** Everything in this process that workspaces share. */
export function createShares(
  db: Database,
  overrides: Partial<Record<SharedResource, number>> = {},
): AllShares {
  const shared = (resource: SharedResource, max: number, waits = {}) =>
    new Shares({ resource, max: overrides[resource] ?? max, ...waits });
  const historyWait = { waitMs: limits.historyReadWaitMs };
  const connectionWait = { waitMs: limits.connectionWaitMs, waitingMax: 1_000 };
  const poolMax = Math.max(1, Math.floor(db.connectionsMax * poolPart));
  return {
    waits: shared('waits', limits.waitsMax),
    streams: shared('streams', limits.streamsMax),
    toolCalls: shared('toolCalls', limits.toolCallsMax),
    uploads: shared('uploads', limits.uploadsMax),
    results: shared('results', limits.resultsMax),
    exports: shared('exports', limits.exportsMax),
    longPages: shared('longPages', limits.longPagesMax),
    historyReads: shared('historyReads', limits.historyReadsMax, historyWait),
    searches: shared('searches', limits.searchesMax, historyWait),
    declarations: shared('declarations', limits.declarationsMax, {
      waitMs: limits.declarationWaitMs,
    }),
    providerTests: shared('providerTests', limits.providerTestsMax),
    connections: shared('connections', poolMax, connectionWait),
    singleConnections: shared('singleConnections', singleConnectionsMax, connectionWait),
  };
}
