import type { DeliveryState } from '../../core/event/endpoint.ts';
import type { NewEvent, StoredEvent } from '../../core/event/event.ts';
import { eventDays } from '../../core/event/retry.ts';
import type { ErasedValue } from '../../core/history/erased-value.ts';
import { uuid7 } from '../../core/id.ts';
import type { Db, Trx } from '../../db/database.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { labelsHaveLabel } from './erased-labels.ts';

/**
 * The outbox: events are written in the transaction of the change that they report, each with one delivery for each endpoint
 * that subscribes to it. An event to which no endpoint subscribes is not written.
 *
 * Invariants
 * - The sequence of a workspace grows in the order of commits: its counter is locked until the commit. A reader that
 *   continues after a sequence therefore never misses an event that commits later.
 * - The counters are the last rows that a transaction locks, by workspace.
 * - The counter is locked in a statement of its own, so that the next one sees the endpoints of this moment.
 */

/** Writes events. Other processes are notified at the commit. Must come last in its transaction. */
export async function writeEvents(trx: Trx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await trx.run({ text: lockCounters.text, values: lockCounters.values(events) });
  const { text } = insertEvents;
  const counted = await trx.run<Queued>({ text, values: insertEvents.values(events) });
  if (counted.rows[0]?.queued) await sql`select pg_notify('cueline_event_queued', '')`.execute(trx);
}

/** Like `writeEvents`, on a pipelined connection and without a notification. Returns whether something must be sent. */
export async function sendEvents(send: Send, events: readonly NewEvent[]): Promise<boolean> {
  if (events.length === 0) return false;
  const [, counted] = await Promise.all([send(lockCounters, events), send(insertEvents, events)]);
  return Boolean(counted[0]?.queued);
}

interface Queued {
  readonly queued: number;
}

const workspacesOf = (events: readonly NewEvent[]) => [
  ...new Set(events.map(({ workspaceId }) => workspaceId)),
];

const lockCounters = statement<readonly NewEvent[]>('events-lock-counters')`
  select from event_counters where workspace_id = any(${workspacesOf}::uuid[])
  order by workspace_id for update`;

/** SQL: whether endpoint `p` receives event `g`. Everything but a ping needs a subscription. */
const subscribes = sql`p.workspace_id = g.workspace_id and case when g.type = 'ping' then p.id = g.subject
  else g.type = any(p.event_types) and (p.agent_ids is null or g.agent_id is null or g.agent_id = any(p.agent_ids)) end`;

const given = rowSet<NewEvent>(
  'g',
  {
    id: ['uuid', ({ atMs }) => uuid7(atMs)],
    workspace_id: ['uuid', (one) => one.workspaceId],
    type: ['text', (one) => one.type],
    at_ms: ['float8', (one) => one.atMs],
    subject: ['uuid', (one) => one.subject],
    agent_id: ['uuid', (one) => one.agentId],
    end_user: ['text', (one) => one.user],
    data: ['json', (one) => one.data],
  },
  { ordinality: true },
);

// Whether an endpoint is active is decided once for all events.
const insertEvents = statement<readonly NewEvent[], Queued>('events-insert')`
  with given as materialized (select * from ${given.table}),
  active as materialized (
    select p.id, p.workspace_id, p.url, p.event_types, p.agent_ids
    from active_endpoints p where p.workspace_id in (select workspace_id from given)),
  matched as materialized (
    select g.*, array(select p.id from active p where ${subscribes}) as endpoints
    from given g),
  subscribed as materialized (
    select *, row_number() over (partition by workspace_id order by ordinal) as nth
    from matched where cardinality(endpoints) > 0),
  counted as (
    update event_counters c set last = c.last + s.n
    from (select workspace_id, count(*) as n from subscribed group by workspace_id) as s
    where c.workspace_id = s.workspace_id
    returning c.workspace_id, c.last - s.n as before),
  written as (
    insert into events (id, workspace_id, sequence, type, at, subject, agent_id, end_user, data)
    select s.id, s.workspace_id, c.before + s.nth, s.type, to_timestamp(s.at_ms / 1000), s.subject, s.agent_id,
      s.end_user, s.data
    from subscribed s join counted c on c.workspace_id = s.workspace_id
    returning id),
  queued as (
    insert into deliveries (endpoint_id, event_id, type, due_at)
    select p.id, s.id, s.type, clock_timestamp()
    from subscribed s cross join lateral unnest(s.endpoints) as e (id) join active p on p.id = e.id
    where p.url is not null
    returning 1)
  select count(*)::int as queued from queued`;

const columns = sql`e.id, e.type, e.at, e.sequence, e.data`;

/**
 * The next events of a workspace, oldest first. Null if there is no event `after`.
 * @param endpointId only events to which this endpoint subscribes
 */
export async function listEvents(
  db: Db,
  workspaceId: string,
  page: {
    readonly after: string | null;
    readonly limit: number;
    readonly endpointId: string | null;
  },
): Promise<StoredEvent[] | null> {
  const { after, limit, endpointId } = page;
  const start = after === null ? 0 : await findSequence(db, workspaceId, after);
  if (start === null) return null;
  const filter =
    endpointId === null
      ? sql``
      : sql`and exists (
          select from (select e.workspace_id, e.type, e.subject, e.agent_id) as g
          join endpoints p on p.id = ${endpointId} and ${subscribes})`;
  const { rows } = await sql<StoredEvent>`
    select ${columns} from events e
    where e.workspace_id = ${workspaceId} and e.sequence > ${start} ${filter}
    order by e.sequence limit ${limit}`.execute(db);
  return rows;
}

/** An event of an execution. */
export interface SentEvent extends Pick<StoredEvent, 'id' | 'type' | 'at'> {
  readonly deliveries: readonly SentDelivery[];
}

export interface SentDelivery {
  readonly endpointId: string;
  readonly description: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Null before the first attempt. */
  readonly last: {
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
  } | null;
  /** ISO 8601; null unless it is pending. */
  readonly nextAttemptAt: string | null;
}

/** The events of an execution, oldest first. Deliveries are found by their endpoint, of which a workspace has few. */
export async function listEventsOf(
  db: Db,
  { workspaceId, executionId }: { readonly workspaceId: string; readonly executionId: string },
): Promise<SentEvent[]> {
  const { rows } = await sql<SentEvent>`
    select e.id, e.type, e.at, coalesce((
      select jsonb_agg(jsonb_build_object(
        'endpointId', p.id, 'description', p.description, 'state', d.state,
        'attempts', jsonb_array_length(d.attempts), 'last', d.attempts -> -1,
        'nextAttemptAt', case when d.state = 'pending' then d.due_at end) order by p.id)
      from endpoints p join deliveries d on d.endpoint_id = p.id and d.event_id = e.id
      where p.workspace_id = e.workspace_id), '[]') as deliveries
    from events e
    where e.subject = ${executionId} and e.workspace_id = ${workspaceId}
    order by e.sequence`.execute(db);
  return rows;
}

async function findSequence(db: Db, workspaceId: string, id: string): Promise<number | null> {
  const { rows } = await sql<{ sequence: number }>`
    select sequence from events where id = ${id} and workspace_id = ${workspaceId}`.execute(db);
  return rows[0]?.sequence ?? null;
}

/** Deletes up to `limit` old events, but not the newest of a workspace, after which a reader may continue. Returns how many. */
export async function deleteOldEvents(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from events where id in (
      select id from events e where id < id_floor(clock_timestamp() - make_interval(days => ${eventDays}))
        and not exists (
          select from event_counters c where c.workspace_id = e.workspace_id and c.last = e.sequence)
      order by id limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

interface DeletedExecution {
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * Removes who they were for from the events of deleted executions, and what receivers answered to them, which may repeat it.
 * Answers that are still to come are not stored.
 */
export async function forgetExecutions(
  send: Send,
  deleted: readonly DeletedExecution[],
): Promise<void> {
  if (deleted.length > 0) await send(forgetExecutionEvents, deleted);
}

/** An event of a budget names its user in the window. */
const withoutLabels = sql`(e.data::jsonb || case when e.type like 'budget.%' then '{"bucket": "erased"}'
    else '{"user": null, "session": null, "tags": null, "metadata": null}' end::jsonb)::json`;
const forgetAnswers = sql`update deliveries d
    set erased = true, attempts = (
      select coalesce(jsonb_agg(a || '{"answer": null}' order by n), '[]')
      from jsonb_array_elements(d.attempts) with ordinality as attempt (a, n))
    from forgotten f join endpoints p on p.workspace_id = f.workspace_id
    where d.endpoint_id = p.id and d.event_id = f.id`;

const forgotten = rowSet<DeletedExecution>('x', {
  id: ['uuid', (one) => one.id],
  workspace_id: ['uuid', (one) => one.workspaceId],
});

const forgetExecutionEvents = statement<readonly DeletedExecution[]>('events-forget-executions')`
  with forgotten as (
    update events e set end_user = null, data = ${withoutLabels}
    from ${forgotten.table}
    where e.subject = x.id and e.workspace_id = x.workspace_id
    returning e.id, e.workspace_id)
  ${forgetAnswers}`;

/** The same for the events of workflow runs that are deleted. */
export async function forgetRuns(
  db: Db,
  workspaceId: string,
  runIds: readonly string[],
): Promise<void> {
  await forgetWhere(db, workspaceId, sql`e.subject = any(${runIds}::uuid[])`);
}

interface ErasedInWorkspace extends ErasedValue {
  readonly workspaceId: string;
  readonly agentId: string | null;
}

/**
 * The same for all events that name a user. Those that have another label are not found by an index: only those that are
 * still to be sent.
 */
export async function forgetLabelInEvents(trx: Trx, erased: ErasedInWorkspace): Promise<void> {
  const { workspaceId, value, label } = erased;
  const which =
    label === null
      ? sql`e.end_user = ${value}`
      : sql`${labelsHaveLabel(sql`e.data`, erased)} and e.id = any(array(
          select d.event_id from endpoints p join deliveries d on d.endpoint_id = p.id and d.state = 'pending'
          where p.workspace_id = ${workspaceId}))`;
  await forgetWhere(trx, workspaceId, sql`${which} and ${ofAgent(erased)}`);
}

/** The same for the next `limit` events below a sequence, newest first. Returns the new position; null at the end. */
export async function forgetLabelInOldEvents(
  trx: Trx,
  erased: ErasedInWorkspace,
  { downTo, limit }: { readonly downTo: number | null; readonly limit: number },
): Promise<number | null> {
  const { workspaceId } = erased;
  const isBelow = sql`(${downTo}::bigint is null or e.sequence < ${downTo})`;
  const { rows } = await sql<{ sequence: number }>`
    select sequence from events e where e.workspace_id = ${workspaceId} and ${isBelow}
    order by sequence desc limit ${limit}`.execute(trx);
  const lowest = rows.at(-1)?.sequence ?? null;
  if (lowest === null) return null;
  const which = sql`e.sequence >= ${lowest} and ${isBelow} and ${labelsHaveLabel(sql`e.data`, erased)}`;
  await forgetWhere(trx, workspaceId, sql`${which} and ${ofAgent(erased)}`);
  return lowest;
}

/** The same for events of these budgets. */
export async function forgetUserOfBudgets(
  trx: Trx,
  {
    workspaceId,
    budgetIds,
    user,
  }: { readonly workspaceId: string; readonly budgetIds: readonly string[]; readonly user: string },
): Promise<void> {
  const which = sql`e.end_user = ${user} and e.subject = any(${budgetIds}::uuid[])`;
  await forgetWhere(trx, workspaceId, which);
}

function ofAgent({ agentId }: ErasedInWorkspace): Sql {
  return sql`(${agentId}::uuid is null or e.agent_id = ${agentId})`;
}

async function forgetWhere(db: Db, workspaceId: string, which: Sql): Promise<void> {
  await sql`
    with forgotten as (
      update events e set end_user = null, data = ${withoutLabels}
      where e.workspace_id = ${workspaceId} and ${which}
      returning e.id, e.workspace_id)
    ${forgetAnswers}`.execute(db);
}
