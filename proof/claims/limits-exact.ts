import { untilBlocked } from '../../harness/locks.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { windows } from '../../src/core/agent/limits.ts';
import { sql } from '../../src/db/sql.ts';
import { sendAll, spawnApis } from '../apis.ts';
import { planCallMix, testingLimits } from '../call-mix.ts';
import type { LimitedBy } from '../calls.ts';
import { checkDeadlocks } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import { type Clock, shadowClock } from '../clock.ts';
import type { ProofEnvironment } from '../environment.ts';
import { leapToBoundary } from '../exact.ts';
import { type ClockSegment, checkLimits, readCounts } from '../limit-checks.ts';

const callsAhead = 320;
const callsBack = 80;
const clients = 20;
/** Before every 40th call the clock jumps to shortly before a window boundary. */
const leapEvery = 40;
const beforeBoundaryMs = 40;

export const limitsExact: Claim = {
  name: 'limits-exact',
  description:
    'Limits of keys, agents and stages admit exactly N calls, in any order, across processes with wrong clocks',
  rounds: { test: 1, short: 20, full: 300 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'missing-lock',
      description: 'counters are read without a lock',
      file: 'engine/admit/admission-read.ts',
      find: 'order by kind, subject for update of limits',
      replace: 'order by kind, subject',
    },
    {
      name: 'random-lock-order',
      description: 'key rows are locked in random order',
      file: 'engine/admit/admission-read.ts',
      find: 'order by kind, subject for update of limits',
      replace: 'order by kind, case when kind = 1 then random() end, subject for update of limits',
      rounds: 2,
    },
    {
      name: 'transaction-clock',
      description: 'the start of the transaction decides a call',
      file: 'engine/admit/admission-read.ts',
      find: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_current_xact_id()',
      replace: 'select (extract(epoch from now()) * 1000)::float8 as now_ms, pg_current_xact_id()',
    },
  ],
  prove,
  checkGoals: ({ counts }) =>
    allLimits.filter((limit) => !counts[limit]).map((limit) => `never ${limit}`),
};

const allLimits = (['key', 'agent', 'stage'] as const).flatMap((scope) =>
  windows.map((window) => refusedBy({ scope, window })),
);

function refusedBy({ scope, window }: Pick<LimitedBy, 'scope' | 'window'>): string {
  return `refused by the ${window} of the ${scope}`;
}

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const clock = await shadowClock(environment);
  // So that no process clock agrees with the database clock.
  await clock.leap(5_400_000);
  const apis = await spawnApis(environment, rounds > 1 ? 4 : 2, {
    CUELINE_TESTING_LIMITS: Object.values(testingLimits).join('/'),
  });
  const counts: Record<string, number> = { calls: 0, accepted: 0 };
  for (const limit of allLimits) counts[limit] = 0;
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const segments = await travel(environment, clock, apis);
    const found = [
      ...(await checkLimits(environment, segments)),
      ...(await boundaryUnderLock(environment, clock, apis)),
    ];
    violations.push(...found.map((one) => `round ${round}: ${one}`));
    for (const { answer } of segments.flatMap((segment) => segment.answered)) {
      const { status, limitedBy } = answer;
      const names = ['calls'];
      if (status === 202) names.push('accepted');
      if (limitedBy) names.push(refusedBy(limitedBy));
      for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  violations.push(...(await checkDeadlocks(environment.db)));
  return { counts, violations };
}

/** Calls while the clock jumps ahead, then calls after it jumped back by a window: counters keep their window. */
async function travel(
  environment: ProofEnvironment,
  clock: Clock,
  apis: readonly CuelineProcess[],
): Promise<ClockSegment[]> {
  const { random } = environment;
  const planned = await planCallMix(environment, callsAhead + callsBack);
  const chosenWindow = () => windows[Math.floor(random() * windows.length)] ?? 'minute';
  const ahead = await segment(planned.slice(0, callsAhead), await clock.nowMs(), async (index) => {
    if (index % leapEvery !== leapEvery / 2) return;
    return clock.leap(leapToBoundary(chosenWindow(), await clock.nowMs(), beforeBoundaryMs));
  });
  const back = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[chosenWindow()];
  return [ahead, await segment(planned.slice(callsAhead), await clock.leap(-back))];

  async function segment(
    calls: typeof planned,
    nowMs: number,
    before?: (index: number) => Promise<number | undefined>,
  ): Promise<ClockSegment> {
    const from = await readCounts(environment.db);
    const answered = await sendAll({ apis, clients, calls, nowMs, ...(before && { before }) });
    return { from, answered, endMs: await clock.nowMs() };
  }
}

/** Calls wait for a lock across a minute boundary. The minute of the decision counts, not that of the arrival. */
async function boundaryUnderLock(
  environment: ProofEnvironment,
  clock: Clock,
  apis: readonly CuelineProcess[],
): Promise<string[]> {
  const limit = 3;
  const key = await environment.key({ rateLimits: { requestsPerMinute: limit } });
  const { path } = await environment.agent();
  const call = { path, key: key.key, body: { variables: { name: 'you' } } };
  const calls = Array.from({ length: 3 * limit }, () => ({ call }));
  const send = (nowMs: number) => sendAll({ apis, clients: limit, calls, nowMs });
  // Only the jump may cross the boundary.
  const first = await send(
    await clock.leap(leapToBoundary('minute', await clock.nowMs(), -10_000)),
  );
  let jumpedMs = 0;
  let waiting: ReturnType<typeof send> | undefined;
  await environment.db.transaction(async (trx) => {
    await sql`select from limits where subject = ${key.id} for update`.execute(trx);
    waiting = send(0);
    await untilBlocked(environment.db);
    jumpedMs = await clock.leap(60_000);
  });
  const second = (await waiting) ?? [];
  const admitted = [first, second].map(
    (answered) => answered.filter(({ answer }) => answer.status === 202).length,
  );
  const violations = admitted.flatMap((count) =>
    count === limit ? [] : [`${count} of ${limit} were admitted in a minute around the lock`],
  );
  for (const { answer } of second) {
    if ((answer.secondMs ?? 0) + 1_000 > jumpedMs) continue;
    violations.push('a call that waited for a lock was decided by an earlier time');
  }
  return violations;
}
