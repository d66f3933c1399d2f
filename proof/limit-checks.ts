import { type Counts, type Window, windows } from '../src/core/agent/limits.ts';
import { uuid7Time } from '../src/core/id.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import type { Answered } from './apis.ts';
import type { Planned, Subject } from './call-mix.ts';
import type { ProofEnvironment } from './environment.ts';
import { checkExact, numberOf } from './exact.ts';

/** Compares the responses with limits, tables and clock. */

/** A period in which the clock does not go back. */
export interface ClockSegment {
  /** The counters at its start. A counter never returns to an earlier window. */
  readonly from: ReadonlyMap<string, Counts>;
  readonly answered: readonly Answered<Planned>[];
  readonly endMs: number;
}

/** A call that reached the limits of a subject. */
interface Reached {
  readonly numbers: Readonly<Record<Window, number>>;
  readonly refusedBy: Answered<Planned>['answer']['limitedBy'];
}

export async function readCounts(db: Db): Promise<Map<string, Counts>> {
  const { rows } = await sql<Counts & { subject: string }>`
    select subject, minute, minute_used, hour, hour_used, day, day_used from limits`.execute(db);
  return new Map(rows.map((row) => [row.subject, row]));
}

export async function checkLimits(
  { db }: ProofEnvironment,
  segments: readonly ClockSegment[],
): Promise<string[]> {
  const answered = segments.flatMap((segment) => segment.answered);
  const subjects = new Set(answered.flatMap(({ planned: { key, agent } }) => [key, agent]));
  const counts = await readCounts(db);
  const violations = segments.flatMap((segment) =>
    segment.answered.flatMap((one) => [...checkAnswer(one), ...checkTime(one, segment)]),
  );
  for (const subject of subjects) {
    if (subject === null) continue;
    const reached = segments.flatMap((segment) =>
      segment.answered.flatMap((one) => reachedBy(subject, one, segment)),
    );
    violations.push(...checkSubject(subject, reached), ...checkCounts(subject, reached, counts));
  }
  violations.push(
    ...(await checkRecords(db, answered)),
    ...(await checkRefusalCounts(db, answered)),
  );
  return violations;
}

/** The call ended as planned, or at one of the limits that it reached. */
function checkAnswer({ planned, answer }: Answered<Planned>): string[] {
  const { ends, key, agent } = planned;
  const { status, code, limitedBy } = answer;
  if (status !== 429) {
    if (status === ends.status && code === ends.code) return [];
    return [`${status} ${code} instead of ${ends.status} ${ends.code}`];
  }
  const subject = limitedBy?.scope === 'key' ? key : agent;
  const limit = subject?.limits.find(
    ({ scope, window }) => scope === limitedBy?.scope && window === limitedBy.window,
  );
  if (limit && limit.limit === limitedBy?.limit) return [];
  return [`refused by an unknown limit: ${JSON.stringify(limitedBy)}`];
}

/** All times in a response equal the database's time of the decision. */
function checkTime(
  { planned, answer, notBeforeMs }: Answered<Planned>,
  segment: ClockSegment,
): string[] {
  const { secondMs, retrySecondMs } = answer;
  if (planned.key === null) return secondMs === null ? [] : ['limit headers without a key'];
  if (secondMs === null) return ['a response without limit headers'];
  const between = secondMs + 1_000 > notBeforeMs && secondMs <= segment.endMs;
  const violations = between ? [] : [`decided at ${iso(secondMs)}, sent at ${iso(notBeforeMs)}`];
  if (retrySecondMs !== null && retrySecondMs !== secondMs) {
    violations.push(`Retry-After counts from ${iso(retrySecondMs)}, not from ${iso(secondMs)}`);
  }
  return violations;
}

function reachedBy(
  subject: Subject,
  { planned, answer }: Answered<Planned>,
  { from }: ClockSegment,
): Reached[] {
  const { limitedBy, replayed, secondMs } = answer;
  const atKey = planned.key === subject;
  const refusedAtKey = limitedBy?.scope === 'key';
  // A replay skips the agent's limit.
  if (!atKey && (planned.agent !== subject || refusedAtKey || replayed)) return [];
  const start = from.get(subject.id);
  const number = (window: Window) =>
    Math.max(numberOf(window, secondMs ?? 0), start?.[window] ?? 0);
  const numbers = { minute: number('minute'), hour: number('hour'), day: number('day') };
  return [{ numbers, refusedBy: refusedAtKey === atKey ? limitedBy : null }];
}

function checkSubject({ id, limits }: Subject, reached: readonly Reached[]): string[] {
  return limits.flatMap(({ scope, window, limit }) =>
    checkExact({
      what: `${scope} ${id}`,
      window,
      limit,
      admitted: reached.flatMap((one) => (one.refusedBy ? [] : one.numbers[window])),
      refused: reached.flatMap(({ refusedBy }) =>
        refusedBy?.window === window ? numberOf(window, Date.parse(refusedBy.resetAt)) - 1 : [],
      ),
    }),
  );
}

/** The counters agree with the responses: an admitted call consumes one, a refused one nothing. */
function checkCounts(
  { id }: Subject,
  reached: readonly Reached[],
  counts: ReadonlyMap<string, Counts>,
): string[] {
  return windows.flatMap((window) => {
    const last = reached.reduce((latest, { numbers }) => Math.max(latest, numbers[window]), 0);
    const used = reached.filter((one) => !one.refusedBy && one.numbers[window] === last).length;
    const row = counts.get(id);
    if (row?.[window] === last && row[`${window}Used`] === used) return [];
    return [
      `${id} counts ${row?.[`${window}Used`]} in ${window} ${row?.[window]}, not ${used} in ${last}`,
    ];
  });
}

/** Each accepted call has one record, with the time of its response in its id as well; there are no other records. */
async function checkRecords(db: Db, answered: readonly Answered<Planned>[]): Promise<string[]> {
  const keyIds = [...new Set(answered.flatMap(({ planned }) => planned.key?.id ?? []))];
  const { rows } = await sql<{ id: string; atMs: number }>`
    select id, (extract(epoch from executed_at) * 1000)::float8 as at_ms from all_executions
    where api_key_id = any (${keyIds}::uuid[]) and status not in ('rate_limited', 'unauthorized')`.execute(
    db,
  );
  const records = new Map(rows.map(({ id, atMs }) => [id, atMs]));
  const firsts = answered.filter(({ answer }) => answer.status === 202 && !answer.replayed);
  const violations: string[] = [];
  for (const { answer } of firsts) {
    const atMs = records.get(answer.executionId ?? '');
    if (atMs === undefined) violations.push(`no record of ${answer.executionId}`);
    else if (Math.floor(atMs / 1000) * 1000 !== answer.secondMs) {
      violations.push(`executed at ${iso(atMs)}, answered at ${iso(answer.secondMs ?? 0)}`);
    } else if (uuid7Time(answer.executionId ?? '') !== atMs) {
      violations.push(`${answer.executionId} does not contain its time`);
    }
  }
  if (records.size !== firsts.length)
    violations.push(`${records.size} records of ${firsts.length} calls`);
  return violations;
}

/** The statistics count every refusal of an agent, with or without a record. */
async function checkRefusalCounts(
  db: Db,
  answered: readonly Answered<Planned>[],
): Promise<string[]> {
  const refused = Map.groupBy(answered.flatMap(refusalsOf), (refusal) => refusal);
  const { rows } = await sql<{ refusal: string; occurred: number }>`
    select agent_id || ' ' || status as refusal, sum(occurred)::int as occurred from statistics
    where level = 'day' and agent_id = any (${answered.flatMap(({ planned }) => planned.agentId ?? [])}::uuid[])
    group by 1`.execute(db);
  const counted = new Map(rows.map(({ refusal, occurred }) => [refusal, occurred]));
  return [...new Set([...refused.keys(), ...counted.keys()])].flatMap((refusal) => {
    const [count, calls] = [counted.get(refusal) ?? 0, refused.get(refusal)?.length ?? 0];
    return count === calls ? [] : [`${count} refusals counted of ${calls}: ${refusal}`];
  });
}

function refusalsOf({
  planned: { agentId },
  answer: { status, code },
}: Answered<Planned>): string[] {
  if (agentId === null) return [];
  if (status === 429) return [`${agentId} rate_limited`];
  return status === 401 || code === 'AGENT_NOT_ACTIVE' ? [`${agentId} unauthorized`] : [];
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
