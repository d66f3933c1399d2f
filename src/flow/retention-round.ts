import { setTimeout as wait } from 'node:timers/promises';
import { takeBodies, takeBriefOutputs } from '../store/bodies.ts';
import type { Db } from '../store/db.ts';
import { foldHours, nextAgents } from '../store/folding.ts';
import * as months from '../store/months.ts';
import type { Pipelines } from '../store/pipeline.ts';
import { removedMax, removeRecords } from '../store/removal.ts';
import { nextOverdue, type Overdue } from '../store/retention.ts';
import { beginRound, keepRound, type RoundName } from '../store/rounds.ts';
import { workErasures } from './erase.ts';
import { inTurn, type Pace } from './in-turn.ts';

/**
 * What takes records away in time, in rounds: small transactions with pauses between them, so that nobody who accepts,
 * claims or finishes waits for more than one of them. Each can be the last: the next round goes on from what it finds.
 */
export interface RoundParts {
  readonly db: Db;
  readonly pipelines: Pipelines;
  /** Ends the round after the transaction that is under way. */
  readonly signal: AbortSignal;
  /** Between two transactions, as many times what the last one took as this says; 3 unless given. */
  readonly rest?: number;
}

const retentionEveryMs = 60_000;
const foldingEveryMs = 3_600_000;
/** How often a round that goes on says so. */
const keepEveryMs = 20_000;
const restMsMin = 5;
const restMsMax = 2_000;
const agentsAtOnce = 200;
const hoursAtOnce = 12;
const triesOfDrop = 5;
const betweenTriesMs = 1_000;

/** Makes the rounds whose turn it is and which no other process makes. */
export async function makeRounds(parts: RoundParts): Promise<void> {
  const { db } = parts;
  if (await beginRound(db, 'retention', retentionEveryMs)) await retentionRound(parts);
  if (parts.signal.aborted) return;
  if (await beginRound(db, 'folding', foldingEveryMs)) await foldingRound(parts);
}

/** Erasures first, they were asked for; then whole months, then the rest, agent by agent. */
export async function retentionRound(parts: RoundParts): Promise<void> {
  const pace = paceOf(parts, 'retention');
  await inTurn([
    () => workErasures(parts.db, parts.pipelines, pace),
    () => monthsRound(parts.db, pace),
    () => recordsRound(parts, pace),
    async () => {
      while ((await pace(() => takeBriefOutputs(parts.db, removedMax))) === removedMax);
    },
  ]);
}

export async function foldingRound(parts: RoundParts): Promise<void> {
  const { db } = parts;
  const pace = paceOf(parts, 'folding');
  await eachAgent(db, pace, async (agentId) => {
    let from: Date | null = new Date(0);
    while (from) {
      const last: Date | null =
        (await pace(() => foldHours(db, { agentId, from: from as Date, limit: hoursAtOnce }))) ??
        null;
      from = last && new Date(last.getTime() + 3_600_000);
    }
  });
}

function paceOf({ db, signal, rest = 3 }: RoundParts, name: RoundName): Pace {
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
  while ((await pace(() => months.deleteBeforeFloor(db, removedMax))) === removedMax);
  if (await months.isFloorCounted(db)) return;
  const floor = await months.readFloor(db);
  const done = await eachAgent(db, pace, async (agentId) => {
    while (((await pace(() => months.emptyBuckets(db, agentId, removedMax))) ?? 0) > 0);
  });
  if (done) await months.markFloorCounted(db, floor);
}

async function recordsRound({ db, pipelines }: RoundParts, pace: Pace): Promise<void> {
  let after = firstId;
  for (;;) {
    const agents = await pace(() => nextOverdue(db, after, agentsAtOnce));
    await inTurn(
      (agents ?? []).flatMap((agent) => [
        () => removeOverdue(pipelines, agent, pace),
        () => takeOverdueBodies(db, agent, pace),
      ]),
    );
    const last = agents?.at(-1);
    if (!last) return;
    after = last.agentId;
  }
}

async function removeOverdue(
  pipelines: Pipelines,
  { agentId, oldest, before }: Overdue,
  pace: Pace,
): Promise<void> {
  let from = oldest;
  while (from !== null && before !== null) {
    const removal = { agentId, from, before, limit: removedMax };
    const removed = (await pace(() => removeRecords(pipelines, removal))) ?? [];
    // On from the last one: the index is not walked again over what is gone.
    from = removed.length < removedMax ? null : highest(removed.map(({ id }) => id));
  }
}

async function takeOverdueBodies(db: Db, { agentId, bodiesDays }: Overdue, pace: Pace) {
  if (bodiesDays === null) return;
  const overdue = { agentId, days: bodiesDays, limit: removedMax };
  while ((await pace(() => takeBodies(db, overdue))) === removedMax);
}

/** False where the round ended before all had their turn. */
async function eachAgent(
  db: Db,
  pace: Pace,
  work: (agentId: string) => Promise<void>,
): Promise<boolean> {
  let after = firstId;
  for (;;) {
    const ids = await pace(() => nextAgents(db, after, agentsAtOnce));
    if (!ids) return false;
    for (const id of ids) await work(id);
    const last = ids.at(-1);
    if (last === undefined) return true;
    after = last;
  }
}

const firstId = '00000000-0000-0000-0000-000000000000';

function highest(ids: readonly string[]): string | null {
  return ids.reduce<string | null>((most, id) => (most === null || id > most ? id : most), null);
}
