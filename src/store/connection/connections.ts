import { type Db, dropIdle, openDatabase } from './database.ts';
import type { Connection } from './detect-pooler.ts';
import { openPipelines, type Pipelines } from './pipeline.ts';

/** The connections of one process beside its pool: each purpose has its own, and no more than is said here. */
export interface Connections {
  /** For batches. */
  readonly pipelines: Pipelines;
  /**
   * For one run or record each: hundreds at once, refused steps, ends that go alone or records to be deleted, must not hold up
   * a batch.
   */
  readonly singlePipelines: Pipelines;
  /** Nothing at all may keep a heartbeat waiting. */
  readonly leasePipelines: Pipelines;
  /** For claims, releases, templates and the sweep: no list, however slow, may keep a claim waiting. */
  readonly workDb: Db;
  /** For exports. Their snapshots lie idle as long as a reader takes nothing; one that is too slow is cut off before. */
  readonly exportDb: Db;
  /** Ends those that nobody uses just now: after a silence they are dead as well. */
  dropIdle(): void;
  close(): Promise<void>;
}

/** Two each of admissions, ends and starts of workflows; four of what calls and polls read. */
const batchesMax = 10;
const singlesMax = 3;
/** A heartbeat, and one more after one that hangs. */
const leaseMax = 2;
const workMax = 3;
/** Statements of a hot path that were sent together and take longer than this count as unanswered. */
const responseTimeoutMs = 15_000;
/** However short the lease: a claim on a busy machine takes its time. */
const workMsMin = 2_000;
const exportIdleMsMax = 60_000;

export function openConnections(options: {
  readonly connection: Connection;
  readonly leaseMs: number;
  readonly exportsMax: number;
  readonly onError: (error: unknown) => void;
}): Connections {
  const { connection, leaseMs, exportsMax, onError } = options;
  const pipelinesOf = (connectionsMax: number, timeoutMs: number) =>
    openPipelines({ connection, connectionsMax, responseTimeoutMs: timeoutMs, onError });
  const pipelines = pipelinesOf(batchesMax, responseTimeoutMs);
  const singlePipelines = pipelinesOf(singlesMax, responseTimeoutMs);
  const leasePipelines = pipelinesOf(leaseMax, leaseMs / 4);
  const workDb = openDatabase({
    ...{ connection, poolMax: workMax, onError },
    // What is not answered within a lease has not helped anybody; and a dead connection must be found out soon.
    statementMsMax: Math.max(workMsMin, (leaseMs * 2) / 3),
  });
  const exportDb = openDatabase({
    ...{ connection, poolMax: exportsMax, onError },
    ...{ statementMsMax: exportIdleMsMax, idleMsMax: exportIdleMsMax },
  });
  return {
    ...{ pipelines, singlePipelines, leasePipelines, workDb, exportDb },
    dropIdle() {
      for (const one of [pipelines, singlePipelines]) one.dropIdle();
      for (const one of [workDb, exportDb]) dropIdle(one);
    },
    async close() {
      const all = [pipelines, singlePipelines, leasePipelines];
      await Promise.all([...all.map((one) => one.close()), workDb.destroy()]);
      await exportDb.destroy();
    },
  };
}
