import { setTimeout as wait } from 'node:timers/promises';
import { everything } from '../../core/history/history-range.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { removeBodies, removeTransientOutputs } from '../../store/history/bodies.ts';
import { nextAgents, rollUpHours } from '../../store/history/folding.ts';
import {
  beginRound,
  keepRound,
  type RoundName,
  readReached,
  writeReached,
} from '../../store/history/maintenance-rounds.ts';
import * as months from '../../store/history/months.ts';
import { removedMax, removeRecords } from '../../store/history/removal.ts';
import { nextOverdue, type Overdue } from '../../store/history/retention.ts';
import {
  nextOverdueVersions,
  removeOverdueRunBodies,
  removeOverdueWorkflowRuns,
  removeTransientRunBodies,
} from '../../store/workflow/workflow-removal.ts';
import { workErasures } from './erase.ts';
import { exhaust, inTurn, type Pace } from './paced-transactions.ts';

/**
 * What takes records away in time, in rounds: small transactions with pauses between them, so that nobody who accepts,
 * claims or finishes waits for more than one of them. Each can be the last: the next round goes on from what it finds.
 */
export interface RoundDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  /** Ends the round after the transaction that is under way. */
  readonly signal: AbortSignal;
  /** Between two transactions, as many times what the last one took as this says; 3 unless given. */
  readonly rest?: number;
  /** For records and bodies whose time is up; a minute unless given. */
  readonly recordsMs?: number;
}

/** Less than the minute between two times that it is asked for, or it would be too early now and then. */
const retentionEveryMs = 55_000;
const rollupEveryMs = 3_600_000;
/** How often a round that goes on says so. */
const keepEveryMs = 20_000;
const recordsMsMax = 60_000;
const restMsMin = 5;
const restMsMax = 2_000;
const agentsAtOnce = 200;
const hoursAtOnce = 12;
const versionsAtOnce = 200;
const triesOfDrop = 5;
const betweenTriesMs = 1_000;

/** Makes the round where it is its turn, and no other process makes it. */
export async function runRetentionIfDue(deps: RoundDeps): Promise<void> {
  if (await beginRound(deps.db, 'retention', retentionEveryMs)) await retentionRound(deps);
}

export async function runRollupIfDue(deps: RoundDeps): Promise<void> {
  if (await beginRound(deps.db, 'rollup', rollupEveryMs)) await rollupRound(deps);
}

/** What is short first: outputs that only stay for a while, then erasures; then whole months, then the rest, agent by agent. */
export async function retentionRound(deps: RoundDeps): Promise<void> {
  const pace = paceOf(deps, 'retention');
  const all = (take: (db: Db, limit: number) => Promise<number>) =>
    exhaust(removedMax, () => pace(() => take(deps.db, removedMax)));
  await inTurn([
    () => all(removeTransientOutputs),
    () => all(removeTransientRunBodies),
    () => workErasures(deps.db, deps.pipelines, pace),
    () => monthsRound(deps.db, pace),
    () => runsRound(deps, pace),
    () => recordsRound(deps, pace),
  ]);
}

export async function rollupRound(deps: RoundDeps): Promise<void> {
  const { db } = deps;
  const pace = paceOf(deps, 'rollup');
  await eachAgent(db, pace, async (agentId) => {
    const fold = (from: Date | null) =>
      pace(() => rollUpHours(db, { agentId, from, limit: hoursAtOnce }));
    let last = await fold(null);
    while (last) last = await fold(new Date(last.getTime() + 3_600_000));
  });
}

function paceOf({ db, signal, rest = 3 }: RoundDeps, name: RoundName): Pace {
  let keptAt = performance.now();
  return async (work) => {
    if (signal.aborted) return undefined;
    const begunAt = performance.now();
    const result = await work();
    const endedAt = performance.now();
    if (endedAt - keptAt > keepEveryMs) {
      keptAt = endedAt;
      await keepRound(db, name);
    }
    const restMs = Math.min(restMsMax, Math.max(restMsMin, endedAt - begunAt) * rest);
    if (restMs > 0) await wait(restMs, undefined, { signal }).catch(() => {});
    return result;
  };
}

async function monthsRound(db: Db, pace: Pace): Promise<void> {
  // What was moved just now is dropped by a later round: then hardly anyone is left who reads by the floor before.
  if (await pace(() => months.moveFloor(db))) return;
  const open = (await months.monthsToDrop(db)).length > 0 || !(await months.isFloorCounted(db));
  if (!open || !(await months.isFloorSettled(db))) return;
  for (const name of await months.monthsToDrop(db)) {
    for (let tries = 0; tries < triesOfDrop; tries++) {
      if (await pace(() => months.dropMonth(db, name))) break;
      await pace(() => wait(betweenTriesMs));
    }
  }
  await exhaust(removedMax, () => pace(() => months.deleteBeforeFloor(db, removedMax)));
  if (await months.isFloorCounted(db)) return;
  const floor = await months.readFloor(db);
  const done = await eachAgent(db, pace, async (agentId) => {
    while (((await pace(() => months.emptyBuckets(db, agentId, removedMax))) ?? 0) > 0);
  });
  if (done) await months.markFloorCounted(db, floor);
}

/** For a while; what is left is found first by the next round. */
async function runsRound({ db, recordsMs = recordsMsMax }: RoundDeps, pace: Pace): Promise<void> {
  const until = performance.now() + recordsMs;
  const inTime: Pace = async (work) => (performance.now() < until ? pace(work) : undefined);
  const failures: unknown[] = [];
  let after = everything.fromId;
  for (;;) {
    const versions = (await inTime(() => nextOverdueVersions(db, after, versionsAtOnce))) ?? [];
    for (const { versionId, losesRuns, losesBodies } of versions) {
      const works = [
        async () => {
          while (losesRuns && (await inTime(() => removeOverdueWorkflowRuns(db, versionId))));
        },
        async () => {
          while (
            losesBodies &&
            (await inTime(() => removeOverdueRunBodies(db, versionId, removedMax)))
          );
        },
      ];
      await inTurn(works).catch((error: unknown) => failures.push(error));
    }
    const last = versions.at(-1);
    if (last === undefined) break;
    after = last.versionId;
  }
  if (failures.length > 0) throw failures[0];
}

/** For a while; the next round goes on with the next agent. */
async function recordsRound(deps: RoundDeps, pace: Pace): Promise<void> {
  const { db, pipelines, recordsMs = recordsMsMax } = deps;
  const until = performance.now() + recordsMs;
  const inTime: Pace = async (work) => (performance.now() < until ? pace(work) : undefined);
  let begunAfter = await readReached(db, 'retention');
  let after = begunAfter;
  const failures: unknown[] = [];
  for (;;) {
    const agents = await inTime(() => nextOverdue(db, after, agentsAtOnce));
    if (!agents) break;
    for (const agent of agents) {
      if (performance.now() >= until || deps.signal.aborted) break;
      after = agent.agentId;
      const works = [
        () => removeOverdue(pipelines, agent, inTime),
        () => takeOverdueBodies(db, agent, inTime),
      ];
      await inTurn(works).catch((error: unknown) => failures.push(error));
    }
    if (agents.length > 0) continue;
    after = everything.fromId;
    if (begunAfter === after) break;
    // Once more from the first one: the time is not up.
    begunAfter = after;
  }
  await writeReached(db, 'retention', after);
  if (failures.length > 0) throw failures[0];
}

async function removeOverdue(
  pipelines: Pipelines,
  { agentId, oldest }: Overdue,
  pace: Pace,
): Promise<void> {
  let from = oldest;
  while (from !== null) {
    const removal = { agentId, from, limit: removedMax };
    const removed = (await pace(() => removeRecords(pipelines, removal))) ?? [];
    // On from the last one: the index is not walked again over what is gone.
    from = removed.length < removedMax ? null : highest(removed.map(({ id }) => id));
  }
}

async function takeOverdueBodies(db: Db, { agentId, losesBodies }: Overdue, pace: Pace) {
  if (!losesBodies) return;
  await exhaust(removedMax, () => pace(() => removeBodies(db, { agentId, limit: removedMax })));
}

/** False where the round ended before all had their turn. */
async function eachAgent(
  db: Db,
  pace: Pace,
  work: (agentId: string) => Promise<void>,
): Promise<boolean> {
  let after = everything.fromId;
  for (;;) {
    const ids = await pace(() => nextAgents(db, after, agentsAtOnce));
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
