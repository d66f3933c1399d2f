import type { Connection } from './connection.ts';
import { type Database, type Db, openDatabase } from './database.ts';
import { openPipelines, type Pipelines } from './pipeline.ts';

/**
 * The connections of one process besides its main pool. Each purpose has its own connections with a fixed maximum, so that
 * slow work of one kind never delays another kind.
 */
export interface Connections {
  /** For batches. */
  readonly pipelines: Pipelines;
  /** For work on one execution or record: refused steps, ends that failed in a batch, deletions. */
  readonly singlePipelines: Pipelines;
  /** For heartbeats alone. */
  readonly leasePipelines: Pipelines;
  /** For claims, releases, templates and the sweep. */
  readonly workDb: Db;
  /** For deliveries of events. */
  readonly eventPipelines: Pipelines;
  /** For endpoints, alerts and e-mail. */
  readonly eventDb: Db;
  /** For lists, searches and statistics. */
  readonly historyDb: Db;
  /** For the readiness check alone. */
  readonly readinessDb: Db;
  /** For exports. A transaction is idle while its client reads slowly; the idle timeout ends it. */
  readonly exportDb: Db;
  /** Closes idle connections: if one connection died silently, the others are dead too. */
  dropIdle(): void;
  close(): Promise<void>;
}

/** Two each for admissions, ends and workflow starts; four for the reads of calls and polls. */
const batchConnectionsMax = 10;
export const singleConnectionsMax = 3;
/** One for the heartbeat and one in case the first hangs. */
const leaseConnectionsMax = 2;
const workConnectionsMax = 3;
/** One for steps of the sender and one for outcomes; two pipelines, and two pooled for what is rare. */
const eventConnectionsMax = 2;
const responseTimeoutMs = 15_000;
/** A lower bound for short leases: a claim takes time on a busy machine. */
const workStatementMsMin = 2_000;
const exportIdleMsMax = 60_000;
/** A search scans fewer records after a timeout; any other statement this slow is given up. */
const historyStatementMsMax = 10_000;
/** A readiness check that takes longer fails. */
export const readinessMsMax = 2_000;

/** The connections to standbys: as many as `historyDb` and `exportDb` have to the primary. */
export function openReadConnections(options: {
  readonly connection: Connection;
  readonly exportsMax: number;
  readonly historyReadsMax: number;
  readonly onError: (error: unknown) => void;
}): Pick<Connections, 'historyDb' | 'exportDb' | 'close'> {
  const historyDb = openHistoryDb(options);
  const exportDb = openExportDb(options);
  const close = async () => {
    await Promise.all([historyDb.destroy(), exportDb.destroy()]);
  };
  return { historyDb, exportDb, close };
}

/** One connection to the primary for samples of its position. */
export function openSampleDb(connection: Connection, onError: (error: unknown) => void): Db {
  const statementMsMax = readinessMsMax;
  return openDatabase({ connection, poolMax: 1, onError, statementMsMax });
}

interface ReadPool {
  readonly connection: Connection;
  readonly onError: (error: unknown) => void;
}

function openHistoryDb(options: ReadPool & { readonly historyReadsMax: number }): Database {
  const { connection, historyReadsMax: poolMax, onError } = options;
  return openDatabase({ connection, poolMax, onError, statementMsMax: historyStatementMsMax });
}

function openExportDb(options: ReadPool & { readonly exportsMax: number }): Database {
  const { connection, exportsMax: poolMax, onError } = options;
  const timeouts = { statementMsMax: exportIdleMsMax, idleMsMax: exportIdleMsMax };
  return openDatabase({ connection, poolMax, onError, ...timeouts });
}

export function openConnections(options: {
  readonly connection: Connection;
  readonly leaseMs: number;
  readonly exportsMax: number;
  readonly historyReadsMax: number;
  readonly readinessMsMax?: number;
  readonly onError: (error: unknown) => void;
}): Connections {
  const { connection, leaseMs, onError } = options;
  const open = (connectionsMax: number, timeoutMs: number) =>
    openPipelines({ connection, connectionsMax, responseTimeoutMs: timeoutMs, onError });
  const pipelines = open(batchConnectionsMax, responseTimeoutMs);
  const singlePipelines = open(singleConnectionsMax, responseTimeoutMs);
  const leasePipelines = open(leaseConnectionsMax, leaseMs / 4);
  const eventPipelines = open(eventConnectionsMax, responseTimeoutMs);
  const workDb = openDatabase({
    connection,
    poolMax: workConnectionsMax,
    onError,
    // A response after the lease has expired is useless, and a dead connection must be detected early.
    statementMsMax: Math.max(workStatementMsMin, (leaseMs * 2) / 3),
  });
  const eventDb = openDatabase({ connection, poolMax: eventConnectionsMax, onError });
  const historyDb = openHistoryDb(options);
  const readinessDb = openDatabase({
    connection,
    poolMax: 1,
    onError,
    statementMsMax: options.readinessMsMax ?? readinessMsMax,
  });
  const exportDb = openExportDb(options);
  const pools = [workDb, eventDb, historyDb, readinessDb, exportDb];
  return {
    pipelines,
    singlePipelines,
    leasePipelines,
    eventPipelines,
    workDb,
    eventDb,
    historyDb,
    readinessDb,
    exportDb,
    dropIdle() {
      for (const one of [pipelines, singlePipelines, eventPipelines]) one.dropIdle();
      for (const one of pools) one.dropIdle();
    },
    async close() {
      const all = [pipelines, singlePipelines, leasePipelines, eventPipelines];
      await Promise.all([...all.map((one) => one.close()), ...pools.map((one) => one.destroy())]);
    },
  };
}
