import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { addWorkspace } from '../../harness/people.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { noLimits } from '../../src/core/execution/limits.ts';
import { type Answered, sendAll, spawnApis } from '../apis.ts';
import type { Call } from '../calls.ts';
import type { Claim, Found } from '../claim.ts';
import { type Clock, shadowClock } from '../clock.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkExact, endMs, leapToBoundary, numberOf } from '../exact.ts';

/** Of each stretch: the months turn in the middle of it. */
const callsPerMonth = 80;
const clients = 20;
const beforeTurnMs = 60;
const afterTurnMs = 2_000;
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
      file: 'store/admission/admission-read.ts',
      find: 'nowMs: Math.trunc(clock[0]?.now_ms ?? Number.NaN)',
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
  // Whose clock agrees with the database's is not the clock that decides.
  await clock.leap(5_400_000);
  const apis = await spawnApis(environment, rounds > 1 ? 4 : 2);
  const counts = {
    calls: 0,
    accepted: 0,
    'refused by the quota': 0,
    'months that turned': 0,
    'months in which nothing was spent': 0,
  };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const kind = round % 2 === 0 ? 'spends always' : 'spends nothing in the last month';
    const { answered, found, turned, unspent } = await oneWorkspace(environment, clock, apis, kind);
    violations.push(...found.map((one) => `round ${round}: ${one}`));
    if (turned !== 2 || unspent !== (kind === 'spends always' ? 0 : 1)) {
      violations.push(`round ${round}: ${turned} months turned, in ${unspent} nothing was spent`);
    }
    counts.calls += answered.length;
    counts.accepted += answered.filter(({ answer }) => answer.status === 202).length;
    counts['refused by the quota'] += answered.filter(({ answer }) => answer.limitedBy).length;
    counts['months that turned'] += turned;
    counts['months in which nothing was spent'] += unspent;
  }
  return { counts, violations };
}

interface Planned {
  readonly call: Call;
  /** The answer, where the quota does not refuse the call. */
  readonly ends: 202 | 400;
}

/** An answer, and the month in which its call was decided: none earlier than the latest in which something was spent. */
interface Booked extends Answered<Planned> {
  readonly month: number;
}

type Kind = 'spends always' | 'spends nothing in the last month';

/**
 * A workspace of its own. The month turns twice, under the calls or, where nothing is to be spent in the last one, the second
 * time between two stretches of them; and then the clock leaps back by a month.
 */
async function oneWorkspace(
  environment: ProofEnvironment,
  clock: Clock,
  apis: readonly CuelineProcess[],
  kind: Kind,
) {
  const { db, random } = environment;
  const limit = 5 + Math.floor(random() * 40);
  const { workspaceId, ownerId: userId } = await addWorkspace(db);
  await sql`update workspaces set actions_per_month = ${limit} where id = ${workspaceId}`.execute(
    db,
  );
  const owner = await environment.key({ workspaceId, userId });
  const next = await planner(environment, { workspaceId, userId });
  const booked: Booked[] = [];
  const found: string[] = [];

  await stretch(next());
  await stretch(next(), 'month turns');
  if (kind === 'spends always') {
    await stretch(next(), 'month turns');
  } else {
    await clock.leap(leapToBoundary('month', await clock.nowMs(), -afterTurnMs));
    await stretch(next().map(spendingNothing));
  }
  const months = new Set(booked.map(({ month }) => month));
  const turned = months.size - 1;
  const unspent = months.difference(new Set(spentMonths())).size;
  await clock.leap(-monthMs);
  await stretch(next());
  await clock.leap(monthMs);

  const refused = booked.flatMap(({ answer: { limitedBy } }) =>
    limitedBy ? numberOf('month', Date.parse(limitedBy.resetAt)) - 1 : [],
  );
  const past = spentMonths();
  found.push(...checkExact({ what: 'the quota', turning: 'month', limit, past, refused }));
  return { answered: booked, found, turned, unspent };

  /** The calls of one stretch, in which the clock does not leap back; afterwards usage is asked for. */
  async function stretch(calls: readonly Planned[], turn?: 'month turns'): Promise<void> {
    const latest = latestMonth();
    const nowMs = await clock.nowMs();
    const before = async (index: number) => {
      if (!turn || index < callsPerMonth / 2) return;
      if (index === callsPerMonth / 2) {
        return clock.leap(leapToBoundary('month', await clock.nowMs(), beforeTurnMs));
      }
      // Some come while it turns, and the last ones after that.
      if (index < (callsPerMonth * 3) / 4) return;
      while (numberOf('month', await clock.nowMs()) === numberOf('month', nowMs)) await wait(5);
      return;
    };
    const answered = await sendAll({ apis, clients, calls, nowMs, before });
    const endedMs = await clock.nowMs();
    for (const one of answered) {
      found.push(...checkAnswer(one, endedMs));
      const month = Math.max(latest, numberOf('month', one.answer.secondMs ?? 0));
      booked.push({ ...one, month });
    }
    found.push(...(await checkUsage()));
  }

  /** What the API says is what was accepted in the month that counts. */
  async function checkUsage(): Promise<string[]> {
    const now = numberOf('month', await clock.nowMs());
    const month = Math.max(now, latestMonth());
    const used = booked.filter((one) => spends(one) && one.month === month).length;
    const headers = { authorization: `Bearer ${owner.key}` };
    const response = await fetch(`${apis[0]?.url}/api/v1/usage`, { headers });
    const { actionsUsed, resetAt } = (await response.json()) as Record<string, unknown>;
    // It turned meanwhile, by itself.
    if (numberOf('month', await clock.nowMs()) !== now) return checkUsage();
    if (actionsUsed === used && resetAt === new Date(endMs('month', month)).toISOString())
      return [];
    return [`usage says ${actionsUsed} until ${resetAt}, accepted were ${used} in month ${month}`];
  }

  /** Of each AI Action that was spent. */
  function spentMonths(): number[] {
    return booked.filter(spends).map(({ month }) => month);
  }

  /** A month begins with its first AI Action: where nothing was spent, a clock set back goes on in the one before. */
  function latestMonth(): number {
    return spentMonths().reduce((latest, month) => Math.max(latest, month), 0);
  }
}

/** Plans the calls of one stretch after the other. */
async function planner(
  environment: ProofEnvironment,
  owned: { workspaceId: string; userId: string },
) {
  const { random } = environment;
  const { workspaceId, userId } = owned;
  // A limit nobody reaches: answers tell the time by it.
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
    if (chance < 0.1) return spendingNothing({ call: { path, key, body }, ends: 202 });
    if (chance > 0.2) return { call: { path, key, body }, ends: 202 };
    const headers = { 'idempotency-key': `again ${Math.floor(random() * 3)}` };
    return { call: { path, key, body, headers }, ends: 202 };
  };
  return () => Array.from({ length: callsPerMonth }, one);
}

/** The same call without the variable that the agents require. */
function spendingNothing({ call: { path, key } }: Planned): Planned {
  return { call: { path, key, body: { variables: {} } }, ends: 400 };
}

function spends({ answer }: Answered<Planned>): boolean {
  return answer.status === 202 && !answer.replayed;
}

function checkAnswer(
  { planned, answer, notBeforeMs }: Answered<Planned>,
  endedMs: number,
): string[] {
  const { status, code, limitedBy, secondMs, retrySecondMs } = answer;
  if (status !== planned.ends && limitedBy?.scope !== 'quota') {
    return [`answered ${status} ${code} instead of ${planned.ends}`];
  }
  if (secondMs === null || secondMs + 1_000 <= notBeforeMs || secondMs > endedMs) {
    return [`decided at ${secondMs}, sent at ${notBeforeMs}`];
  }
  if (retrySecondMs === null || retrySecondMs === secondMs) return [];
  return [`Retry-After counts from ${retrySecondMs}, not from ${secondMs}`];
}
