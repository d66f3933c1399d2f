import { sql } from 'kysely';
import { lossesMax } from '../src/core/agent/model-settings.ts';
import type { Db } from '../src/store/connection/database.ts';
import type { RunCall } from './fleet.ts';
import { type Hands, handsOf } from './journal.ts';

/**
 * Holds what the provider has recorded of each run against its record. A journal must have been kept from the first process
 * on. The agents must answer with numbered models and the prompt `Hello {{name}}`, each name used once, and no call may
 * fail by itself; those with a deadline of their own are never answered.
 */

export interface Histories {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** From the loss of a process to the next call for each run whose call it had begun. */
  readonly resumedMs: readonly number[];
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly attempts: number;
  readonly output: string | null;
  readonly userPrompt: string | null;
  readonly atMostOnce: boolean;
  /** Of an agent that has one of its own, else null. */
  readonly deadlineMs: number | null;
  readonly tookMs: number;
}

/** How long after its deadline a run may still be `processing`. */
const lateMsMax = 30_000;
/** By which two readings of the wall clock may differ from what happened between them. */
const timerMs = 100;
/** So long after it is resumed a process may still send what it was about to send when it was stopped. */
const sendMsMax = 3_000;

export async function checkHistories(
  db: Db,
  calls: ReadonlyMap<string, readonly RunCall[]>,
): Promise<Histories> {
  const { rows } = await sql<Row>`
    select e.id, e.input_variables ->> 'name' as name, e.status, e.error_code, e.attempts, e.output, e.user_prompt,
      coalesce((a.config ->> 'maxAttempts')::int = 1, false) as at_most_once,
      (a.config ->> 'timeoutMs')::int as deadline_ms,
      coalesce(extract(epoch from e.completed_at - e.started_at) * 1000, 0)::float8 as took_ms
    from executions e join agents a on a.id = e.agent_id
    where e.status in ('success', 'failed')
    order by e.id`.execute(db);
  const hands = await handsOf(db);
  const histories = rows.map((row) =>
    historyOf(row, calls.get(`Hello ${row.name}`) ?? [], hands.get(row.id)),
  );
  const sum = (count: (one: (typeof histories)[number]) => number) =>
    histories.reduce((total, one) => total + count(one), 0);
  return {
    violations: histories.flatMap((history) =>
      [...complaints(history)].map(
        (complaint) =>
          `${complaint}: ${JSON.stringify(history.row)}; ${said(history.calls, history.hands)}`,
      ),
    ),
    counts: {
      runs: rows.length,
      'model calls': sum((one) => one.calls.length),
      'calls lost with their process': sum((one) => one.lostMs.length),
      'calls sent late': sum((one) => one.late.filter((call) => !nobodyWaits(call)).length),
      'calls read late that nobody waits for': sum((one) => one.late.filter(nobodyWaits).length),
      'runs that lost a process': sum((one) => (one.row.attempts > 1 ? 1 : 0)),
      'runs given up after five losses': sum((one) =>
        one.row.errorCode === 'WORKER_LOST' && !one.row.atMostOnce ? 1 : 0,
      ),
      'runs ended by their deadline': sum((one) => (one.row.errorCode === 'MODEL_TIMEOUT' ? 1 : 0)),
      'at most once, and lost': sum((one) =>
        one.row.errorCode === 'WORKER_LOST' && one.row.atMostOnce ? 1 : 0,
      ),
    },
    resumedMs: histories.flatMap((one) => one.lostMs),
  };
}

interface History {
  readonly row: Row;
  readonly calls: readonly RunCall[];
  readonly hands: Hands | undefined;
  /**
   * Of a run that succeeded, the call whose answer it must have: the last one of whoever had it at its end that was not
   * given up. One that was given up may come later, since a provider that is busy reads what is sent through a new
   * connection after what is sent through one that it knows.
   */
  readonly counting: RunCall | undefined;
  /** The calls after that one. */
  readonly late: readonly RunCall[];
  /** For each call that was followed by another, the time to that one, where the process was killed in between. */
  readonly lostMs: readonly number[];
}

function historyOf(row: Row, calls: readonly RunCall[], hands: Hands | undefined): History {
  const lostMs = calls.flatMap(({ member, atMs }, index) => {
    const next = calls[index + 1];
    const { killedMs } = member;
    if (!next || killedMs === null || killedMs < atMs || killedMs > next.atMs) return [];
    return next.atMs - killedMs;
  });
  const counting =
    row.status === 'success'
      ? calls.findLast(({ member, givenUp }) => member.number === hands?.holder && !givenUp)
      : undefined;
  const late = counting ? calls.slice(calls.indexOf(counting) + 1) : [];
  return { row, calls, hands, counting, late, lostMs };
}

function* complaints({ row, calls, hands, counting, late }: History): Generator<string> {
  if (row.status === 'success') {
    if (Number(row.output) !== counting?.number) {
      yield 'the answer is not that of the process that had the run';
    }
    if (hands?.endedBy !== hands?.holder) yield 'it was ended by a process that did not have it';
    if (counting && counting.epochMs < (hands?.claims.at(-1)?.epochMs ?? Infinity) - timerMs) {
      yield 'the answer is that of a call from before the last claim';
    }
    if (late.some((call) => !nobodyWaits(call) && !heldUp(call, hands))) {
      yield 'it was called again after the call that counts';
    }
    if (row.userPrompt !== `Hello ${row.name}`) yield 'the prompt is not that of the call';
  } else if (row.deadlineMs !== null && row.errorCode === 'MODEL_TIMEOUT') {
    if (row.tookMs < row.deadlineMs - timerMs) yield 'a run was ended before its deadline';
    if (row.tookMs > row.deadlineMs + lateMsMax) yield 'a run went on beyond its deadline';
  } else {
    if (row.errorCode !== 'WORKER_LOST') yield 'a run failed for another reason than its processes';
    const budget = row.atMostOnce ? 1 : lossesMax;
    if (row.attempts < budget) yield 'a run was given up before its time';
  }
  for (const [member, made] of Map.groupBy(calls, (call) => call.member)) {
    if (made.length > claimedMs(hands, member).length)
      yield 'a process called it more often than it claimed it';
  }
  if (row.atMostOnce && calls.length > 1) yield 'at most once was called twice';
}

/** Whoever made the call gave it up or is dead: it was sent before, however late the provider reads it. */
function nobodyWaits({ member: { killedMs }, atMs, givenUp }: RunCall): boolean {
  return givenUp || (killedMs !== null && killedMs < atMs);
}

/**
 * Stopped between its latest claim and its call: what it was just about to send goes out once it is resumed, and what it
 * had sent may be read while it is stopped.
 */
function heldUp({ member, epochMs }: RunCall, hands: Hands | undefined): boolean {
  const claimMs = claimedMs(hands, member).at(-1) ?? Infinity;
  return member.stops.some(
    ({ fromMs, toMs }) =>
      claimMs - timerMs <= fromMs &&
      toMs !== null &&
      fromMs - timerMs <= epochMs &&
      epochMs <= toMs + sendMsMax,
  );
}

/** When this process claimed the run, by the wall clock, oldest first. */
function claimedMs(hands: Hands | undefined, { number }: RunCall['member']): number[] {
  return (hands?.claims ?? []).flatMap(({ member, epochMs }) => (member === number ? epochMs : []));
}

/** All that it is judged by, at milliseconds of the wall clock. */
function said(calls: readonly RunCall[], hands: Hands | undefined): string {
  const by = (member: number | null, epochMs: number) => `${member} at ${Math.round(epochMs)}`;
  const stopped = [...new Set(calls.map(({ member }) => member))].flatMap(({ number, stops }) =>
    stops.map(({ fromMs, toMs }) => `${by(number, fromMs)} to ${toMs}`),
  );
  const made = calls.map(
    ({ number, member, epochMs, givenUp }) =>
      `${number} by ${by(member.number, epochMs)}${givenUp ? ', given up' : ''}`,
  );
  return [
    `calls ${made.join(', ')}`,
    `claims by ${(hands?.claims ?? []).map(({ member, epochMs }) => by(member, epochMs)).join(', ')}`,
    `stops of ${stopped.join(', ') || 'none'}`,
  ].join('; ');
}
