import { setTimeout as wait } from 'node:timers/promises';
import { everything } from '../../../core/history/history-range.ts';
import type { Db } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { deleteOldToolCalls } from '../../../engine/complete/assistant-messages.ts';
import { foldLabels } from '../../../engine/complete/label-changes.ts';
import {
  paced,
  type RunPaced,
  repeatWhileFull,
  runAll,
} from '../../../engine/transaction/paced-transactions.ts';
import { deleteTransientOutputs, removeBodies } from '../statements/bodies.ts';
import { deletedMax, deleteRecords } from '../statements/deletion.ts';
import {
  type JobName,
  readJobCursor,
  renewJob,
  tryStartJob,
  writeJobCursor,
} from '../statements/maintenance-jobs.ts';
import * as months from '../statements/months.ts';
import { listOverdueAgents, type Overdue } from '../statements/retention-statements.ts';
import { listAgentIds, rollUpHours } from '../statements/rollup.ts';
import {
  deleteOverdueWorkflowRuns,
  listOverdueVersions,
  removeOverdueRunBodies,
  removeTransientRunBodies,
} from '../statements/workflow-deletion.ts';
import { workErasures } from './erase.ts';

/**
 * Maintenance rounds that delete records and bodies after their retention, and roll up statistics.
 *
 * A round is a series of small transactions with pauses, so that admission, claims and ends wait for at most one of them.
 * One process at a time runs a round; `tryStartJob` and `renewJob` decide which. A round may stop after any transaction:
 * the next one continues from what it finds in the database.
 */
export interface RoundDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  /** Ends the round after the current transaction. */
  readonly signal: AbortSignal;
  /** The pause after a transaction, as a multiple of its duration; 3 unless given. */
  readonly rest?: number;
  /** The time for overdue records and bodies; a minute unless given. */
  readonly recordsMs?: number;
}

/** Less than the minute of its timer. Otherwise a round would sometimes be too early. */
const retentionEveryMs = 55_000;
const rollupEveryMs = 3_600_000;
/** How often a running round renews its claim. */
const renewEveryMs = 20_000;
const recordsMsMax = 60_000;
const restMsMax = 2_000;
const agentsAtOnce = 200;
const hoursAtOnce = 12;
const versionsAtOnce = 200;
const dropAttemptsMax = 5;
const dropRetryMs = 1_000;

/** Runs the round if it is due and no other process runs it. */
export async function runRetentionIfDue(deps: RoundDeps): Promise<void> {
  if (await tryStartJob(deps.db, 'retention', retentionEveryMs)) await retentionRound(deps);
}

export async function runRollupIfDue(deps: RoundDeps): Promise<void> {
  if (await tryStartJob(deps.db, 'rollup', rollupEveryMs)) await rollupRound(deps);
}

/** Short tasks first: transient outputs, erasures, whole months, then workflow runs and records agent by agent. */
export async function retentionRound(deps: RoundDeps): Promise<void> {
  const runPaced = pacedBy(deps, 'retention');
  const all = (take: (db: Db, limit: number) => Promise<number>) =>
    repeatWhileFull(deletedMax, () => runPaced(() => take(deps.db, deletedMax)));
  await runAll([
    () => all(deleteTransientOutputs),
    () => all(deleteOldToolCalls),
    () => all(removeTransientRunBodies),
    () => workErasures(deps.db, deps.pipelines, runPaced),
    () => dropMonths(deps.db, runPaced),
    () => deleteWorkflowRuns(deps, runPaced),
    () => deleteOverdueRecords(deps, runPaced),
  ]);
}

/** Changes of label statistics that one transaction folds. */
const foldedMax = 5_000;

/** Folds the changes of label statistics. */
export async function foldLabelsRound({ db, signal }: RoundDeps): Promise<void> {
  while (!signal.aborted && (await foldLabels(db, foldedMax)) === foldedMax);
}

export async function rollupRound(deps: RoundDeps): Promise<void> {
  const { db } = deps;
  const runPaced = pacedBy(deps, 'rollup');
  await eachAgent(db, runPaced, async (agentId) => {
    const fold = (from: Date | null) =>
      runPaced(() => rollUpHours(db, { agentId, from, limit: hoursAtOnce }));
    let last = await fold(null);
    while (last) last = await fold(new Date(last.getTime() + 3_600_000));
  });
}

/** Renews the claim of the round. */
function pacedBy({ db, signal, rest = 3 }: RoundDeps, name: JobName): RunPaced {
  const runPaced = paced({ signal, rest, restMsMax });
  let renewedAt = performance.now();
  return (transaction) =>
    runPaced(async () => {
      const result = await transaction();
      if (performance.now() - renewedAt > renewEveryMs) {
        renewedAt = performance.now();
        await renewJob(db, name);
      }
      return result;
    });
}

async function dropMonths(db: Db, runPaced: RunPaced): Promise<void> {
  // A later round drops the months below the new floor. By then hardly any statement uses the old one.
  if (await runPaced(() => months.moveFloor(db))) return;
  const open =
    (await months.listDroppableMonths(db)).length > 0 || !(await months.isFloorCleared(db));
  if (!open || !(await months.isFloorSettled(db))) return;
  for (const name of await months.listDroppableMonths(db)) {
    for (let attempt = 0; attempt < dropAttemptsMax; attempt++) {
      if (await runPaced(() => months.dropMonth(db, name))) break;
      await runPaced(() => wait(dropRetryMs));
    }
  }
  await repeatWhileFull(deletedMax, () => runPaced(() => months.deleteBeforeFloor(db, deletedMax)));
  if (await months.isFloorCleared(db)) return;
  const floor = await months.readFloor(db);
  const done = await eachAgent(db, runPaced, async (agentId) => {
    while (((await runPaced(() => months.clearBuckets(db, agentId, deletedMax))) ?? 0) > 0);
  });
  if (done) await months.markFloorCounted(db, floor);
}

/** For a limited time. The next round starts with what is left. */
async function deleteWorkflowRuns(
  { db, recordsMs = recordsMsMax }: RoundDeps,
  runPaced: RunPaced,
): Promise<void> {
  const until = performance.now() + recordsMs;
  const runInTime: RunPaced = async (work) =>
    performance.now() < until ? runPaced(work) : undefined;
  const failures: unknown[] = [];
  let after = everything.fromId;
  for (;;) {
    const versions = (await runInTime(() => listOverdueVersions(db, after, versionsAtOnce))) ?? [];
    for (const { versionId, losesRuns, losesBodies } of versions) {
      const works = [
        async () => {
          while (losesRuns && (await runInTime(() => deleteOverdueWorkflowRuns(db, versionId))));
        },
        async () => {
          while (
            losesBodies &&
            (await runInTime(() => removeOverdueRunBodies(db, versionId, deletedMax)))
          );
        },
      ];
      await runAll(works).catch((error: unknown) => failures.push(error));
    }
    const last = versions.at(-1);
    if (last === undefined) break;
    after = last.versionId;
  }
  if (failures.length > 0) throw failures[0];
}

/** For a limited time. The next round continues with the next agent. */
async function deleteOverdueRecords(deps: RoundDeps, runPaced: RunPaced): Promise<void> {
  const { db, pipelines, recordsMs = recordsMsMax } = deps;
  const until = performance.now() + recordsMs;
  const runInTime: RunPaced = async (work) =>
    performance.now() < until ? runPaced(work) : undefined;
  let startedAfter = await readJobCursor(db, 'retention');
  let after = startedAfter;
  const failures: unknown[] = [];
  for (;;) {
    const agents = await runInTime(() => listOverdueAgents(db, after, agentsAtOnce));
    if (!agents) break;
    for (const agent of agents) {
      if (performance.now() >= until || deps.signal.aborted) break;
      after = agent.agentId;
      const works = [
        () => deleteOverdue(pipelines, agent, runInTime),
        () => removeOverdueBodies(db, agent, runInTime),
      ];
      await runAll(works).catch((error: unknown) => failures.push(error));
    }
    if (agents.length > 0) continue;
    after = everything.fromId;
    if (startedAfter === after) break;
    // Time is left: start again with the first agent.
    startedAfter = after;
  }
  await writeJobCursor(db, 'retention', after);
  if (failures.length > 0) throw failures[0];
}

async function deleteOverdue(
  pipelines: Pipelines,
  { agentId, oldest }: Overdue,
  runPaced: RunPaced,
): Promise<void> {
  let from = oldest;
  while (from !== null) {
    const deletion = { agentId, from, limit: deletedMax };
    const deleted = (await runPaced(() => deleteRecords(pipelines, deletion))) ?? [];
    // Continue after the last one, without walking the index over deleted rows.
    from = deleted.length < deletedMax ? null : highest(deleted.map(({ id }) => id));
  }
}

async function removeOverdueBodies(db: Db, { agentId, losesBodies }: Overdue, runPaced: RunPaced) {
  if (!losesBodies) return;
  await repeatWhileFull(deletedMax, () =>
    runPaced(() => removeBodies(db, { agentId, limit: deletedMax })),
  );
}

/** Returns false if the round ended before the last agent. */
async function eachAgent(
  db: Db,
  runPaced: RunPaced,
  work: (agentId: string) => Promise<void>,
): Promise<boolean> {
  let after = everything.fromId;
  for (;;) {
    const ids = await runPaced(() => listAgentIds(db, after, agentsAtOnce));
    if (!ids) return false;
    for (const id of ids) await work(id);
    const last = ids.at(-1);
    if (last === undefined) return true;
    after = last;
  }
}

function highest(ids: readonly string[]): string | null {
  return ids.reduce<string | null>((most, id) => (most === null || id > most ? id : most), null);
}
