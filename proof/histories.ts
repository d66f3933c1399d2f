import { lossesMax } from '../src/core/agent/model-settings.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { type Ownership, readOwnership } from './journal.ts';
import type { RecordedCall } from './process-pool.ts';

/**
 * Compares the provider's log of model calls with the records. The journal must start before the first process. Agents
 * must use numbered models and the prompt `Hello {{name}}`, each name once, and model calls must not fail. Agents with
 * their own deadline never get a response.
 */

export interface Histories {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** From the loss of a process to the next call, for each of its executions. */
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
  /** Null unless the agent has its own deadline. */
  readonly deadlineMs: number | null;
  readonly tookMs: number;
}

/** How long after its deadline an execution may still be `processing`. */
const lateMsMax = 30_000;
/** Tolerance between two readings of the wall clock. */
const timerMs = 100;
/** How long after a resume a process may still send the call that it was about to send when it was paused. */
const sendMsMax = 3_000;

export async function checkHistories(
  db: Db,
  calls: ReadonlyMap<string, readonly RecordedCall[]>,
): Promise<Histories> {
  const { rows } = await sql<Row>`
    select e.id, e.input_variables ->> 'name' as name, e.status, e.error_code, e.attempts, e.output, e.user_prompt,
      coalesce((a.config ->> 'maxAttempts')::int = 1, false) as at_most_once,
      (a.config ->> 'timeoutMs')::int as deadline_ms,
      coalesce(extract(epoch from e.completed_at - e.started_at) * 1000, 0)::float8 as took_ms
    from executions e join agents a on a.id = e.agent_id
    where e.status in ('success', 'failed')
    order by e.id`.execute(db);
  const ownership = await readOwnership(db);
  const histories = rows.map((row) =>
    historyOf(row, calls.get(`Hello ${row.name}`) ?? [], ownership.get(row.id)),
  );
  const sum = (count: (one: (typeof histories)[number]) => number) =>
    histories.reduce((total, one) => total + count(one), 0);
  return {
    violations: histories.flatMap((history) =>
      [...violationsOf(history)].map(
        (violation) =>
          `${violation}: ${JSON.stringify(history.row)}; ${describe(history.calls, history.ownership)}`,
      ),
    ),
    counts: {
      executions: rows.length,
      'model calls': sum((one) => one.calls.length),
      'calls lost with their process': sum((one) => one.lostMs.length),
      'calls sent late': sum((one) => one.late.filter((call) => !isAbandoned(call)).length),
      'abandoned calls read late': sum((one) => one.late.filter(isAbandoned).length),
      'executions that lost a process': sum((one) => (one.row.attempts > 1 ? 1 : 0)),
      'executions ended after five losses': sum((one) =>
        one.row.errorCode === 'WORKER_LOST' && !one.row.atMostOnce ? 1 : 0,
      ),
      'executions ended by their deadline': sum((one) =>
        one.row.errorCode === 'MODEL_TIMEOUT' ? 1 : 0,
      ),
      'lost executions with at most one attempt': sum((one) =>
        one.row.errorCode === 'WORKER_LOST' && one.row.atMostOnce ? 1 : 0,
      ),
    },
    resumedMs: histories.flatMap((one) => one.lostMs),
  };
}

interface History {
  readonly row: Row;
  readonly calls: readonly RecordedCall[];
  readonly ownership: Ownership | undefined;
  /**
   * The call whose output a successful execution must have: a call of the final owner since its last claim that was not
   * aborted. It may not be the last in the log: a busy provider reads new connections after known ones, and may respond to
   * an aborted call before it detects the abort.
   */
  readonly decisive: RecordedCall | undefined;
  /** The calls after that one, without those of the owner's earlier claims. */
  readonly late: readonly RecordedCall[];
  /** For each call whose process was killed: the time until the next call. */
  readonly lostMs: readonly number[];
}

function historyOf(
  row: Row,
  calls: readonly RecordedCall[],
  ownership: Ownership | undefined,
): History {
  const lostMs = calls.flatMap(({ member, atMs }, index) => {
    const next = calls[index + 1];
    const { killedMs } = member;
    if (!next || killedMs === null || killedMs < atMs || killedMs > next.atMs) return [];
    return next.atMs - killedMs;
  });
  const ofOwner = calls.filter(({ member }) => member.number === ownership?.owner);
  const lastClaimMs = ownership?.claims.at(-1)?.epochMs ?? Infinity;
  const decisive =
    row.status === 'success'
      ? (ofOwner.find(
          ({ number, givenUp, epochMs }) =>
            number === Number(row.output) && !givenUp && epochMs >= lastClaimMs - timerMs,
        ) ?? ofOwner.findLast(({ givenUp }) => !givenUp))
      : undefined;
  const after = decisive ? calls.slice(calls.indexOf(decisive) + 1) : [];
  // Each claim makes at most one call: claims without a call so far explain as many calls that were read late.
  let unexplained = decisive
    ? claimedMs(ownership, decisive.member).length - 1 - ofOwner.indexOf(decisive)
    : 0;
  const late = after.filter(
    (call) => call.member !== decisive?.member || isAbandoned(call) || unexplained-- <= 0,
  );
  return { row, calls, ownership, decisive, late, lostMs };
}

function* violationsOf({ row, calls, ownership, decisive, late }: History): Generator<string> {
  if (row.status === 'success') {
    if (Number(row.output) !== decisive?.number) {
      yield 'the output is not from the owner';
    }
    if (ownership?.endedBy !== ownership?.owner)
      yield 'a process that is not the owner ended the execution';
    if (decisive && decisive.epochMs < (ownership?.claims.at(-1)?.epochMs ?? Infinity) - timerMs) {
      yield 'the output is from a call before the last claim';
    }
    if (late.some((call) => !isAbandoned(call) && !wasPaused(call, ownership))) {
      yield 'the model was called again after the decisive call';
    }
    if (row.userPrompt !== `Hello ${row.name}`) yield 'the prompt differs from the call';
  } else if (row.deadlineMs !== null && row.errorCode === 'MODEL_TIMEOUT') {
    if (row.tookMs < row.deadlineMs - timerMs) yield 'an execution ended before its deadline';
    if (row.tookMs > row.deadlineMs + lateMsMax) yield 'an execution continued beyond its deadline';
  } else {
    if (row.errorCode !== 'WORKER_LOST') yield 'an execution failed without lost processes';
    const budget = row.atMostOnce ? 1 : lossesMax;
    if (row.attempts < budget) yield 'an execution ended before it used its loss budget';
  }
  for (const [member, ownCalls] of Map.groupBy(calls, (call) => call.member)) {
    if (ownCalls.length > claimedMs(ownership, member).length)
      yield 'a process called the model more often than it claimed the execution';
  }
  if (row.atMostOnce && calls.length > 1)
    yield 'an execution with at most one attempt was called twice';
}

/** The caller aborted the call or is dead. The call was sent earlier, even if the provider reads it late. */
function isAbandoned({ member: { killedMs }, atMs, givenUp }: RecordedCall): boolean {
  return givenUp || (killedMs !== null && killedMs < atMs);
}

/**
 * The worker was paused between its latest claim and the call. It sends the call after the resume, or the provider
 * reads it during the pause.
 */
function wasPaused({ member, epochMs }: RecordedCall, ownership: Ownership | undefined): boolean {
  const claimMs = claimedMs(ownership, member).at(-1) ?? Infinity;
  return member.stops.some(
    ({ fromMs, toMs }) =>
      claimMs - timerMs <= fromMs &&
      toMs !== null &&
      fromMs - timerMs <= epochMs &&
      epochMs <= toMs + sendMsMax,
  );
}

/** When this process claimed the execution, by the wall clock, oldest first. */
function claimedMs(ownership: Ownership | undefined, { number }: RecordedCall['member']): number[] {
  return (ownership?.claims ?? []).flatMap(({ member, epochMs }) =>
    member === number ? epochMs : [],
  );
}

/** All calls, claims and pauses, with milliseconds of the wall clock. */
function describe(calls: readonly RecordedCall[], ownership: Ownership | undefined): string {
  const by = (member: number | null, epochMs: number) => `${member} at ${Math.round(epochMs)}`;
  const stopped = [...new Set(calls.map(({ member }) => member))].flatMap(({ number, stops }) =>
    stops.map(({ fromMs, toMs }) => `${by(number, fromMs)} to ${toMs}`),
  );
  const ownCalls = calls.map(
    ({ number, member, epochMs, givenUp }) =>
      `${number} by ${by(member.number, epochMs)}${givenUp ? ', aborted' : ''}`,
  );
  return [
    `calls ${ownCalls.join(', ')}`,
    `claims by ${(ownership?.claims ?? []).map(({ member, epochMs }) => by(member, epochMs)).join(', ')}`,
    `pauses of ${stopped.join(', ') || 'none'}`,
  ].join('; ');
}
