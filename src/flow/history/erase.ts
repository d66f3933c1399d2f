import { variableText } from '../../core/agent/variables.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { everything } from '../../core/history/history-range.ts';
import { toId, uuid7 } from '../../core/id.ts';
import { compact, isStorable } from '../../core/json.ts';
import { actorOf, itself } from '../../core/people/audit.ts';
import { findAgent } from '../../store/agent/agents.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import * as store from '../../store/history/erasures.ts';
import { removedMax, removeRecords } from '../../store/history/removal.ts';
import { writeAudit } from '../../store/people/audit.ts';
import {
  removeWorkflowRunsOf,
  removeWorkflowRunsOfRecords,
} from '../../store/workflow/workflow-removal.ts';
import { noSuchAgent } from '../agent/locked-agent.ts';
import { eraseWorkflowRuns } from './erase-runs.ts';
import type { Pace } from './paced-transactions.ts';

/**
 * Deletes every record of one end user, whom a variable's value names: of all agents of the workspace or of one. Worked off
 * in the rounds, from the newest record to the oldest; a run that has not ended is waited for.
 */

export interface ErasureInput {
  readonly variable: string;
  /** As it would stand in a prompt: a text as it is, anything else as its JSON text. */
  readonly value: string;
  /** Null for all agents; undefined where what was sent is no identifier. */
  readonly agentId: string | null | undefined;
}

const openMax = 100;

export async function requestErasure(
  db: Db,
  caller: Caller,
  { variable, value, agentId }: ErasureInput,
): Promise<store.ErasureRow> {
  for (const [field, text] of Object.entries({ variable, value })) {
    if (isStorable(JSON.stringify(text))) continue;
    const message = `Field "${field}" holds a NUL or a lone surrogate, so no record can hold it.`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  const { workspaceId, userId: requestedBy } = caller;
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      if (agentId === undefined) throw noSuchAgent();
      if (agentId !== null && !(await findAgent(trx, caller, agentId))) throw noSuchAgent();
      if ((await store.countOpenErasures(trx, workspaceId)) >= openMax) {
        throw new CallFailure('CONFLICT', `${openMax} erasures are under way; wait for one.`);
      }
      const id = uuid7(await readClock(trx));
      await store.insertErasure(trx, { id, workspaceId, agentId, variable, value, requestedBy });
      await writeAudit(trx, actorOf(caller), {
        action: 'erasure.request',
        subject: toId('erasure', id),
        details: { variable, agentId: agentId && toId('agent', agentId) },
      });
      const row = await store.findErasure(trx, workspaceId, id);
      if (!row) throw new Error('the erasure that was written is gone');
      return row;
    });
}

/** What is looked at in one go: most of it is not of that end user. */
const lookedMax = 2_000;
/** Of a round; the rest of it must have its turn too. */
const roundMs = 30_000;
/** Where all has been looked at, and where nothing has; as progress, the second is none. */
const { fromId: bottom, toId: top } = everything;

/**
 * Works on the erasures that are open, for a while: a step for each workspace in turn, in each the oldest first. Which
 * workspace begins is left to chance, since there may be more of them than there is time. Throws what failed first.
 */
export async function workErasures(db: Db, pipelines: Pipelines, pace: Pace): Promise<void> {
  const until = performance.now() + roundMs;
  const open = Map.groupBy(await store.listOpenErasures(db), ({ workspaceId }) => workspaceId);
  const failures: unknown[] = [];
  let turns = [...open.values()].map((erasures) => workOff(erasures));
  const first = Math.floor(Math.random() * turns.length);
  turns = [...turns.slice(first), ...turns.slice(0, first)];
  while (turns.length > 0) {
    const left: typeof turns = [];
    for (const turn of turns) {
      if (performance.now() <= until && !(await turn.next()).done) left.push(turn);
    }
    turns = left;
  }
  if (failures.length > 0) throw failures[0];

  /** Whatever becomes of one, the next has its turn. */
  async function* workOff(erasures: readonly store.OpenErasure[]): AsyncGenerator<void> {
    for (const erasure of erasures) {
      try {
        yield* work(db, pipelines, erasure, pace);
      } catch (error) {
        failures.push(error);
        yield;
      }
    }
  }
}

/** Yields after each step. */
async function* work(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  pace: Pace,
): AsyncGenerator<void> {
  let { downTo } = erasure;
  while (downTo !== bottom) {
    const next = await step(db, pipelines, { ...erasure, downTo }, pace);
    if (next === undefined) return;
    downTo = next;
    yield;
  }
  await removeEnded(db, pipelines, erasure, pace);
  // Of one agent: the runs of workflows belong to no agent, and go only with their steps' records.
  if (erasure.agentId === null && !(yield* eraseWorkflowRuns(db, erasure, pace))) return;
  await pace(() => complete(db, erasure));
  yield;
}

/** Answers how far it has come; undefined where the round is over. */
async function step(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  pace: Pace,
): Promise<string | undefined> {
  const look = await pace(() => store.scanForErasure(db, erasure, lookedMax));
  if (!look) return undefined;
  const downTo = look.downTo ?? bottom;
  const found = look.found
    .filter(({ text }) => text === null || variableText(compact(text)) === erasure.value)
    .map(({ id }) => id);
  const ids = [...new Set(found)];
  // A record that cannot be deleted just now is waited for like a run: so none is passed over for good.
  for (let at = 0; at === 0 || at < ids.length; at += removedMax) {
    const some = { ids: ids.slice(at, at + removedMax), pace };
    const reached = at + removedMax >= ids.length ? downTo : erasure.downTo;
    if ((await remove(db, pipelines, erasure.id, some, reached)) === undefined) return undefined;
  }
  return downTo;
}

async function removeEnded(
  db: Db,
  pipelines: Pipelines,
  { id }: store.OpenErasure,
  pace: Pace,
): Promise<void> {
  for (;;) {
    const ids = (await pace(() => store.deletableExecutions(db, id, removedMax))) ?? [];
    const removed = ids.length > 0 && (await remove(db, pipelines, id, { ids, pace }, top));
    // What somebody has locked has its turn in the next round.
    if (!removed || ids.length < removedMax) return;
  }
}

/** Answers how many; undefined where the round is over. */
async function remove(
  db: Db,
  pipelines: Pipelines,
  erasureId: string,
  { ids, pace }: { readonly ids: readonly string[]; readonly pace: Pace },
  downTo: string,
): Promise<number | undefined> {
  // Runs of workflows first, a few at a time: each may have more steps than one transaction should delete.
  while (ids.length > 0 && (await pace(() => removeWorkflowRunsOf(db, ids))));
  const removed = await pace(() =>
    removeRecords(pipelines, { ids }, (send, gone) => [
      removeWorkflowRunsOfRecords(send, [
        ...new Set(gone.flatMap(({ workflowRunId }) => workflowRunId ?? [])),
      ]),
      store.recordErasureProgress(send, erasureId, { ids, downTo, deleted: gone.length }),
    ]),
  );
  return removed?.length;
}

async function complete(db: Db, { id, workspaceId }: store.OpenErasure): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const done = await store.completeErasure(trx, id);
    if (!done) return;
    await writeAudit(trx, itself(workspaceId), {
      action: 'erasure.complete',
      subject: toId('erasure', id),
      details: { deleted: done.deleted },
    });
  });
}
