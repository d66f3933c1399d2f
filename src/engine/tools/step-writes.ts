import type { Attempt } from '../../core/execution/attempt.ts';
import type { Claim, Spent } from '../../core/execution/queued-execution.ts';
import { tokenSumMax } from '../../core/execution/queued-execution.ts';
import { storable, storableJson } from '../../core/storable-text.ts';
import { type Call, isMade, type Settlement } from '../../core/tools/call-state.ts';
import type { CalledTool } from '../../core/tools/tool-port.ts';
import type { Pipelines } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { settleReservations } from '../complete/settlements.ts';
import { lanes } from '../transaction/batcher.ts';
import { transactBatch } from '../transaction/retry-transaction.ts';
import {
  type CalledToolRow,
  calledToolColumns,
  calledToolJoin,
  calledToolOf,
} from './called-tools.ts';

/**
 * The transactions between the turns of an execution, each one statement for all executions that write at the same time.
 *
 *     turn       the message of the model, its calls, and what it cost; it dispatches the first calls
 *     dispatch   a later call, or one that is sent again
 *     settle     how a request ended
 *
 * Invariants
 * - A call leaves after the commit that dispatches it, never before.
 * - What dispatches a call returns where its tool is: nobody else knows where to send it.
 * - Each locks the queue row and names `(worker, attempt)`: without the claim it writes nothing and returns null.
 * - A turn increments `attempt`, like a claim. So what a turn has shown of its answer is void once the next one begins, and nobody
 *   writes for an earlier turn.
 * - Each may be written again: its first commit may have had no response.
 */
export interface StepWrites {
  turn(turn: EndedTurn): Promise<CalledTools | null>;
  dispatch(call: DispatchedCall): Promise<CalledTools | null>;
  settle(call: SettledCall): Promise<true | null>;
}

/** Of the calls that were dispatched, by part; null if the server of one does not exist any more. */
export type CalledTools = ReadonlyMap<number, CalledTool | null>;

interface Claimed extends Claim {
  readonly executionId: string;
  /** The turn, from 1. */
  readonly n: number;
}

export interface EndedTurn extends Claimed {
  readonly spent: Spent;
  /** For the list of attempts. */
  readonly finished: Attempt;
  /** JSON text. */
  readonly message: string;
  readonly calls: readonly Call[];
  /** By part. */
  readonly dispatched: ReadonlyMap<number, Dispatch>;
}

/** What is sent of a call. */
export interface Dispatch {
  readonly server: string;
  /** The name of the tool on its server. */
  readonly tool: string;
  /** JSON text. */
  readonly usedArguments: string;
}

export interface DispatchedCall extends Claimed, Dispatch {
  readonly part: number;
}

export interface SettledCall extends Claimed {
  readonly part: number;
  readonly settlement: Settlement;
}

const batchMax = 200;
const inFlightMax = 2;

export function createStepWrites(pipelines: Pipelines): StepWrites {
  const writer = <Item extends Claimed, Row extends { ordinal: number }, Result>(
    written: Statement<readonly Item[], Row>,
    weight: (item: Item) => number,
    resultOf: (rows: readonly Row[]) => Result,
  ) =>
    lanes<Item, Result | null>({
      ...{ sizeMax: batchMax, inFlightMax, weight },
      run: (items) =>
        transactBatch(items, async (some) => {
          const rows = await pipelines.use((send) => send(written, some));
          const held = Map.groupBy(rows, ({ ordinal }) => ordinal);
          return some.map((_, index) => {
            const own = held.get(index + 1);
            return own ? resultOf(own) : null;
          });
        }),
    });
  const turnWeight = ({ message, calls }: EndedTurn) =>
    calls.reduce((sum, { arguments: given }) => sum + lengthOf(given), message.length);
  const turns = writer(writeTurns, turnWeight, calledTools);
  const dispatchWeight = ({ usedArguments }: DispatchedCall) => usedArguments.length;
  const dispatches = writer(writeDispatches, dispatchWeight, calledTools);
  const settlementWeight = ({ settlement }: SettledCall) => 2 * (settlement.result?.length ?? 0);
  const settlements = writer(writeSettlements, settlementWeight, () => true as const);
  return {
    turn: turns.add,
    dispatch: dispatches.add,
    settle: settlements.add,
  };
}

function lengthOf(given: unknown): number {
  return JSON.stringify(given)?.length ?? 0;
}

interface DispatchRow extends CalledToolRow {
  readonly ordinal: number;
  /** Null of a turn that dispatches nothing. */
  readonly part: number | null;
}

function calledTools(rows: readonly DispatchRow[]): CalledTools {
  return new Map(
    rows.flatMap(({ ordinal: _, part, ...row }) =>
      part === null ? [] : [[part, calledToolOf(row)]],
    ),
  );
}

/** SQL: the items `i` whose claim still holds, as `held`, with their queue rows locked, and the time: a turn ends when its calls leave. */
const heldBy = (table: Sql, ids: Sql, isCurrent: Sql) => sql`
  items as materialized (select * from ${table}),
  locked as materialized (
    select id, workspace_id, worker, attempt, turns, reservations from execution_queue where id = any(${ids}) order by id for no key update),
  held as materialized (
    select i.*, l.workspace_id, l.reservations, l.attempt = i.attempt as is_first, clock_timestamp() as at from items i
    join locked l on l.id = i.execution_id and l.worker = i.worker and ${isCurrent})`;

const claimColumns = {
  execution_id: ['uuid', (one: Claimed) => one.executionId],
  worker: ['uuid', (one: Claimed) => one.worker],
  attempt: ['int', (one: Claimed) => one.attempt],
  n: ['smallint', (one: Claimed) => one.n],
} as const;

const turns = rowSet<EndedTurn>(
  't',
  {
    ...claimColumns,
    calls_made: ['int', (one) => one.calls.filter(isMade).length],
    message: ['json', (one) => one.message],
    finished: ['jsonb', (one) => JSON.stringify(one.finished)],
    model: ['text', (one) => one.finished.model],
    latency_ms: ['int', (one) => one.finished.latencyMs],
    input_tokens: ['int', (one) => one.spent.inputTokens],
    output_tokens: ['int', (one) => one.spent.outputTokens],
    usd: ['numeric', (one) => one.spent.costUsd],
    known: ['bool', (one) => one.spent.costKnown],
    kept_usd: ['numeric', (one) => one.spent.keptUsd],
    source: ['text', (one) => one.spent.costSource],
    price_id: ['int', (one) => one.spent.priceId],
  },
  { ordinality: true },
);

type PlannedCall = Call & Claimed & Pick<EndedTurn, 'dispatched'>;

const plannedCalls = rowSet<PlannedCall, readonly EndedTurn[]>(
  'c',
  {
    execution_id: claimColumns.execution_id,
    n: claimColumns.n,
    part: ['smallint', (one) => one.part],
    state: ['text', (one) => one.state],
    sent: ['smallint', (one) => one.sent],
    safe: ['bool', (one) => one.safe],
    is_error: ['bool', (one) => one.isError],
    tool_call_id: ['uuid', (one) => one.toolCallId],
    call_id: ['text', (one) => storable(one.callId)],
    name: ['text', (one) => storable(one.name)],
    server_id: ['uuid', (one) => one.server],
    arguments: ['json', (one) => storableJson(one.arguments)],
    tool: ['text', (one) => one.dispatched.get(one.part)?.tool],
    used_arguments: ['json', (one) => one.dispatched.get(one.part)?.usedArguments],
    result: ['text', (one) => one.result],
  },
  {
    read: (ended) =>
      ended.flatMap(({ calls, ...turn }) => calls.map((call) => ({ ...turn, ...call }))),
  },
);

// Not first: the same claim has committed it already, and its attempt is the next one.
const writeTurns = statement<readonly EndedTurn[], DispatchRow>('step-turns')`
  with ${heldBy(
    turns.table,
    turns.array('execution_id'),
    sql`(l.attempt = i.attempt and coalesce(l.turns, 0) = i.n - 1 or l.attempt = i.attempt + 1 and l.turns = i.n)`,
  )},
  advanced as (
    update execution_queue q set attempt = q.attempt + 1, turns = h.n,
      tool_calls_made = coalesce(q.tool_calls_made, 0) + h.calls_made,
      attempt_list = coalesce(q.attempt_list, '[]') || h.finished,
      -- They count for each turn.
      earlier_attempts = q.earlier_attempts + q.failures + 1, failures = 0, rejections = 0, emptied = false,
      mismatch = null, wait_code = null,
      spent_input_tokens = least(q.spent_input_tokens::bigint + h.input_tokens, ${sql.lit(tokenSumMax)}),
      spent_output_tokens = least(q.spent_output_tokens::bigint + h.output_tokens, ${sql.lit(tokenSumMax)}),
      spent_usd = q.spent_usd + h.usd, kept_usd = q.kept_usd + h.kept_usd, call_bound_usd = null, reservations = null,
      overrun_usd = q.overrun_usd + case when h.known
        then coalesce(greatest(0, h.usd - (h.reservations -> 0 ->> 'usd')::numeric), 0) else 0 end,
      spent_known = q.spent_known and h.known,
      spent_source = coalesce(h.source, q.spent_source),
      spent_price_id = case when h.source is null then q.spent_price_id else h.price_id end
    from held h where q.id = h.execution_id and h.is_first),
  settled as (${settleReservations(sql`held h`, { id: sql`h.execution_id`, attempt: sql`h.attempt`, usd: sql`h.usd`, isKnown: sql`h.known`, isSent: sql`true` })}
    where h.is_first),
  models as (
    insert into execution_steps (execution_id, n, part, state, ended_at, message, model, input_tokens, output_tokens,
      cost_usd, cost_known, latency_ms)
    select h.execution_id, h.n, 0, 'done', h.at, h.message, h.model, h.input_tokens, h.output_tokens,
      h.usd, h.known, h.latency_ms
    from held h where h.is_first),
  calls as (
    insert into execution_steps (execution_id, n, part, state, sent, safe, is_error, tool_call_id, call_id, name,
      server_id, arguments, used_arguments, result, claim, dispatched_at, ended_at)
    select c.execution_id, c.n, c.part, c.state, c.sent, c.safe, c.is_error, c.tool_call_id, c.call_id, c.name,
      c.server_id, c.arguments, c.used_arguments, c.result,
      case when c.state = 'dispatched' then h.attempt + 1 end,
      case when c.state = 'dispatched' then h.at end,
      case when c.state not in ('ready', 'dispatched') then h.at end
    from ${plannedCalls.table} join held h on h.execution_id = c.execution_id and h.n = c.n and h.is_first)
  select h.ordinal::int as ordinal, c.part, ${calledToolColumns}
  from held h left join ${plannedCalls.table} on c.execution_id = h.execution_id and c.n = h.n and c.state = 'dispatched'
  ${calledToolJoin(sql`h.workspace_id`, sql`c.server_id`, sql`c.tool`)}`;

const dispatches = rowSet<DispatchedCall>(
  'd',
  {
    ...claimColumns,
    part: ['smallint', (one) => one.part],
    server_id: ['uuid', (one) => one.server],
    tool: ['text', (one) => one.tool],
    used_arguments: ['json', (one) => one.usedArguments],
  },
  { ordinality: true },
);

// Of the same claim: its first commit had no response, and nothing was sent.
const writeDispatches = statement<readonly DispatchedCall[], DispatchRow>('step-dispatches')`
  with ${heldBy(dispatches.table, dispatches.array('execution_id'), sql`l.attempt = i.attempt`)},
  sent as (
    update execution_steps s set state = 'dispatched', sent = s.sent + (s.state = 'ready')::int, claim = h.attempt,
      used_arguments = h.used_arguments, dispatched_at = h.at
    from held h
    where s.execution_id = h.execution_id and s.execution_id = any(${dispatches.array('execution_id')})
      and s.n = h.n and s.part = h.part and (s.state = 'ready' or s.state = 'dispatched' and s.claim = h.attempt)
    returning h.ordinal, h.part, h.workspace_id, h.server_id, h.tool)
  select d.ordinal::int as ordinal, d.part, ${calledToolColumns}
  from sent d ${calledToolJoin(sql`d.workspace_id`, sql`d.server_id`, sql`d.tool`)}`;

const settlements = rowSet<SettledCall>(
  'r',
  {
    ...claimColumns,
    part: ['smallint', (one) => one.part],
    state: ['text', ({ settlement }) => settlement.state],
    given_back: ['bool', ({ settlement }) => settlement.givenBack],
    is_error: ['bool', ({ settlement }) => settlement.isError],
    error_code: ['text', ({ settlement }) => settlement.errorCode],
    result: ['text', ({ settlement: { result } }) => result && storable(result)],
  },
  { ordinality: true },
);

const writeSettlements = statement<readonly SettledCall[], { ordinal: number }>('step-settlements')`
  with ${heldBy(settlements.table, settlements.array('execution_id'), sql`l.attempt = i.attempt`)},
  settled as (
    update execution_steps s set state = h.state, sent = s.sent - (h.given_back and s.state = 'dispatched')::int, is_error = h.is_error,
      error_code = h.error_code, result = h.result,
      ended_at = case when h.state <> 'ready' then h.at end
    from held h
    where s.execution_id = h.execution_id and s.execution_id = any(${settlements.array('execution_id')})
      and s.n = h.n and s.part = h.part and s.state in ('ready', 'dispatched'))
  select ordinal::int as ordinal from held`;
