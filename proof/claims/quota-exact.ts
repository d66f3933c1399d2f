import { setTimeout as wait } from 'node:timers/promises';
import { addWorkspace } from '../../harness/people.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { noLimits } from '../../src/core/agent/limits.ts';
import { sql } from '../../src/db/sql.ts';
import { type Answered, sendAll, spawnApis } from '../apis.ts';
import type { Call } from '../calls.ts';
import type { Claim, Found } from '../claim.ts';
import { type Clock, shadowClock } from '../clock.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkExact, endMs, leapToBoundary, numberOf } from '../exact.ts';

/** Calls of one segment. A month may begin in the middle of it. */
const callsPerSegment = 80;
const clients = 20;
const beforeBoundaryMs = 60;
const afterBoundaryMs = 2_000;
const monthMs = 31 * 86_400_000;

export const quotaExact: Claim = {
  name: 'quota-exact',
  description:
    'The monthly quota admits exactly N AI Actions, across changes of the month and with wrong clocks',
  rounds: { test: 2, short: 20, full: 300 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'process-clock',
      description: 'the process clock decides',
      file: 'engine/admit/admission-read.ts',
      find: 'nowMs: Math.trunc(clock?.nowMs ?? Number.NaN)',
      replace: 'nowMs: Date.now()',
    },
    {
      name: 'month-not-reset',
      description: 'the counter is not reset in a new month',
      file: 'core/execution/decide.ts',
      find: 'month.used = 0;',
      replace: '',
    },
    {
      name: 'month-moves-back',
      description: 'a clock that goes back starts the earlier month again',
      file: 'core/execution/decide.ts',
      find: 'monthOf(nowMs) > month.month',
      replace: 'monthOf(nowMs) !== month.month',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const clock = await shadowClock(environment);
  // So that no process clock agrees with the database clock.
  await clock.leap(5_400_000);
  const apis = await spawnApis(environment, rounds > 1 ? 4 : 2);
  const counts = {
    calls: 0,
    accepted: 0,
    'refused by the quota': 0,
    'changes of the month': 0,
    'months without an AI Action': 0,
  };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const lastMonth = round % 2 === 0 ? 'used' : 'unused';
    const result = await oneWorkspace(environment, clock, apis, lastMonth);
    const { answered, found, changes, unused } = result;
    violations.push(...found.map((one) => `round ${round}: ${one}`));
    if (changes !== 2 || unused !== (lastMonth === 'used' ? 0 : 1)) {
      violations.push(`round ${round}: ${changes} changes of the month, ${unused} unused months`);
    }
    counts.calls += answered.length;
    counts.accepted += answered.filter(({ answer }) => answer.status === 202).length;
    counts['refused by the quota'] += answered.filter(({ answer }) => answer.limitedBy).length;
    counts['changes of the month'] += changes;
    counts['months without an AI Action'] += unused;
  }
  return { counts, violations };
}

interface Planned {
  readonly call: Call;
  /** The status if the quota admits the call. */
  readonly ends: 202 | 400;
}

/** A response and the month of its decision, which is never earlier than the latest month with an AI Action. */
interface Counted extends Answered<Planned> {
  readonly month: number;
}

/**
 * A new workspace. The month changes twice during the calls; if the last month stays unused, the second change is between
 * two segments. Then the clock jumps back by a month.
 */
async function oneWorkspace(
  environment: ProofEnvironment,
  clock: Clock,
  apis: readonly CuelineProcess[],
  lastMonth: 'used' | 'unused',
) {
  const { db, random } = environment;
  const limit = 5 + Math.floor(random() * 40);
  const { workspaceId, ownerId: userId } = await addWorkspace(db);
  await sql`update workspaces set actions_per_month = ${limit} where id = ${workspaceId}`.execute(
    db,
  );
  const owner = await environment.key({ workspaceId, userId });
  const next = await planner(environment, { workspaceId, userId });
  const counted: Counted[] = [];
  const found: string[] = [];

  await segment(next());
  await segment(next(), 'month changes');
  if (lastMonth === 'used') {
    await segment(next(), 'month changes');
  } else {
    await clock.leap(leapToBoundary('month', await clock.nowMs(), -afterBoundaryMs));
    await segment(next().map(invalid));
  }
  const months = new Set(counted.map(({ month }) => month));
  const changes = months.size - 1;
  const unused = months.difference(new Set(usedMonths())).size;
  await clock.leap(-monthMs);
  await segment(next());
  await clock.leap(monthMs);

  const refused = counted.flatMap(({ answer: { limitedBy } }) =>
    limitedBy ? numberOf('month', Date.parse(limitedBy.resetAt)) - 1 : [],
  );
  const admitted = usedMonths();
  found.push(...checkExact({ what: 'the quota', window: 'month', limit, admitted, refused }));
  return { answered: counted, found, changes, unused };

  /** Sends calls while the clock does not jump back, then checks the usage. */
  async function segment(calls: readonly Planned[], change?: 'month changes'): Promise<void> {
    const latest = latestMonth();
    const nowMs = await clock.nowMs();
    const before = async (index: number) => {
      if (!change || index < callsPerSegment / 2) return;
      if (index === callsPerSegment / 2) {
        return clock.leap(leapToBoundary('month', await clock.nowMs(), beforeBoundaryMs));
      }
      // Some calls arrive during the change, the last quarter after it.
      if (index < (callsPerSegment * 3) / 4) return;
      while (numberOf('month', await clock.nowMs()) === numberOf('month', nowMs)) await wait(5);
      return;
    };
    const answered = await sendAll({ apis, clients, calls, nowMs, before });
    const endedMs = await clock.nowMs();
    for (const one of answered) {
      found.push(...checkAnswer(one, endedMs));
      const month = Math.max(latest, numberOf('month', one.answer.secondMs ?? 0));
      counted.push({ ...one, month });
    }
    found.push(...(await checkUsage()));
  }

  /** The API must report the calls accepted in the current month. */
  async function checkUsage(): Promise<string[]> {
    const now = numberOf('month', await clock.nowMs());
    const month = Math.max(now, latestMonth());
    const used = counted.filter((one) => isUse(one) && one.month === month).length;
    const headers = { authorization: `Bearer ${owner.key}` };
    const response = await fetch(`${apis[0]?.url}/api/v1/usage`, { headers });
    const { actionsUsed, resetAt } = (await response.json()) as Record<string, unknown>;
    // The month changed meanwhile.
    if (numberOf('month', await clock.nowMs()) !== now) return checkUsage();
    if (actionsUsed === used && resetAt === new Date(endMs('month', month)).toISOString())
      return [];
    return [`usage: ${actionsUsed} until ${resetAt}; accepted: ${used} in month ${month}`];
  }

  /** The month of each AI Action. */
  function usedMonths(): number[] {
    return counted.filter(isUse).map(({ month }) => month);
  }

  /** A month begins with its first AI Action: after an unused month, a clock set back continues the previous month. */
  function latestMonth(): number {
    return usedMonths().reduce((latest, month) => Math.max(latest, month), 0);
  }
}

/** Returns a function that plans the calls of the next segment. */
async function planner(
  environment: ProofEnvironment,
  owned: { workspaceId: string; userId: string },
) {
  const { random } = environment;
  const { workspaceId, userId } = owned;
  // A limit that no call reaches: its headers reveal the time.
  const rateLimits = { ...noLimits, requestsPerDay: 1_000_000 };
  const keys = await Promise.all(
    [0, 1].map(() => environment.key({ workspaceId, userId, rateLimits })),
  );
  const agents = await Promise.all(
    [0, 1].map(() => environment.agent({ workspaceId, createdBy: userId })),
  );
  const one = (): Planned => {
    const key = keys[random() < 0.5 ? 0 : 1]?.key ?? '';
    const path = agents[random() < 0.5 ? 0 : 1]?.path ?? '';
    const chance = random();
    const body = { variables: { name: 'you' } };
    if (chance < 0.1) return invalid({ call: { path, key, body }, ends: 202 });
    if (chance > 0.2) return { call: { path, key, body }, ends: 202 };
    const headers = { 'idempotency-key': `again ${Math.floor(random() * 3)}` };
    return { call: { path, key, body, headers }, ends: 202 };
  };
  return () => Array.from({ length: callsPerSegment }, one);
}

/** The same call without a required variable. */
function invalid({ call: { path, key } }: Planned): Planned {
  return { call: { path, key, body: { variables: {} } }, ends: 400 };
}

function isUse({ answer }: Answered<Planned>): boolean {
  return answer.status === 202 && !answer.replayed;
}

function checkAnswer(
  { planned, answer, notBeforeMs }: Answered<Planned>,
  endedMs: number,
): string[] {
  const { status, code, limitedBy, secondMs, retrySecondMs } = answer;
  if (status !== planned.ends && limitedBy?.scope !== 'quota') {
    return [`${status} ${code} instead of ${planned.ends}`];
  }
  if (secondMs === null || secondMs + 1_000 <= notBeforeMs || secondMs > endedMs) {
    return [`decided at ${secondMs}, sent at ${notBeforeMs}`];
  }
  if (retrySecondMs === null || retrySecondMs === secondMs) return [];
  return [`Retry-After counts from ${retrySecondMs}, not from ${secondMs}`];
}
