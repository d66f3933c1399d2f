import { sql } from '../../src/db/sql.ts';
import type { Claim, Found } from '../claim.ts';
import { shadowClock } from '../clock.ts';
import type { ProofEnvironment } from '../environment.ts';
import { leapToBoundary } from '../exact.ts';
import { executeRequest, flood } from '../flood.ts';

/** The cap of the contract, per key, agent, status and hour. */
const rowsMax = 60;

export const refusalRows: Claim = {
  name: 'refusal-rows',
  description:
    'Refused calls of a known key add at most 60 rows per agent, status and hour; statistics count all of them',
  rounds: { test: 2_000, short: 50_000, full: 1_000_000 },
  roundsPerEnvironment: 1_000_000,
  faults: [
    {
      name: 'uncapped-records',
      description: 'every refusal becomes a record',
      file: 'engine/admit/refusal-recorder.ts',
      find: 'const isRecorded = count < refusalRecordsMax;',
      replace: 'const isRecorded = true;',
    },
    {
      name: 'uncounted-refusals',
      description: 'refusals without a record are not counted',
      file: 'engine/admit/admission-batch.ts',
      find: 'if (recorded) this.#tallies.push(recorded.tally);',
      replace: 'if (recorded?.execution) this.#tallies.push(recorded.tally);',
    },
  ],
  prove,
};

/** A round is a call. Half of the calls are in one hour, half in the next. */
async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db } = environment;
  const clock = await shadowClock(environment);
  const apis = await Promise.all([environment.spawn('api'), environment.spawn('api')]);
  const key = await environment.key();
  const full = await environment.agent({ rateLimits: { requestsPerDay: 1 } });
  const paused = await environment.agent({ stage: 'Paused' });
  const body = '{"variables":{"name":"you"}}';
  const urls = apis.map(({ url }) => url);
  const request = (index: number) =>
    executeRequest(index % 2 === 0 ? full.path : paused.path, key.key, body);
  // Early enough that both hours are on the same day.
  await clock.leap(leapToBoundary('day', await clock.nowMs(), 10 * 3_600_000));
  const first = await flood({ urls: urls.slice(0, 1), calls: 1, request });
  const violations = first.get(202) === 1 ? [] : ['the call within the limit was refused'];
  let [limited, inactive] = [0, 0];
  for (let half = 0; half < 2; half++) {
    const calls = half === 0 ? Math.floor(rounds / 2) : rounds - Math.floor(rounds / 2);
    const statuses = await flood({ urls, calls, request });
    limited += statuses.get(429) ?? 0;
    inactive += statuses.get(403) ?? 0;
    await clock.leap(3_600_000);
  }
  if (limited !== Math.ceil(rounds / 2) || inactive !== Math.floor(rounds / 2)) {
    violations.push(`of ${rounds} calls, ${limited} got 429 and ${inactive} got 403`);
  }

  const { rows } = await sql<{
    agentId: string;
    status: string;
    occurred: number;
    recorded: number;
  }>`
    select agent_id, status, sum(occurred)::int as occurred, sum(recorded)::int as recorded from statistics
    where level = 'day' and status in ('rate_limited', 'unauthorized')
    group by agent_id, status`.execute(db);
  for (const [agent, status, calls] of [
    [full, 'rate_limited', limited],
    [paused, 'unauthorized', inactive],
  ] as const) {
    const counted = rows.find((row) => row.agentId === agent.id && row.status === status);
    if (counted?.occurred !== calls) {
      violations.push(`statistics count ${counted?.occurred} of ${calls} calls as ${status}`);
    }
  }
  const { rows: hours } = await sql<{ status: string; hour: string; records: number }>`
    select status, date_trunc('hour', executed_at) as hour, count(*)::int as records from executions
    where status in ('rate_limited', 'unauthorized')
    group by api_key_id, agent_id, status, 2`.execute(db);
  if (hours.length !== 4) {
    violations.push(`${hours.length} instead of 4 pairs of agent and hour have rows`);
  }
  for (const { status, hour, records } of hours) {
    if (records === rowsMax) continue;
    violations.push(`${records} rows of ${status} in the hour of ${hour}, not ${rowsMax}`);
  }
  const records = hours.reduce((sum, hour) => sum + hour.records, 0);
  const recorded = rows.reduce((sum, row) => sum + row.recorded, 0);
  if (records !== recorded) violations.push(`statistics count ${recorded} of ${records} rows`);
  return { counts: { calls: rounds, refused: limited + inactive, rows: records }, violations };
}
