import type {
  DeliveryState,
  EndpointFormat,
  EndpointPayload,
} from '../../../core/event/endpoint.ts';
import {
  bodyBytesMax,
  type EventType,
  type FullData,
  type StoredEvent,
} from '../../../core/event/event.ts';
import { eventDays, inFlightMax } from '../../../core/event/retry.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { idBounds } from '../../../db/id-bounds.ts';
import type { Send } from '../../../db/pipeline.ts';
import { rowSet } from '../../../db/row-set.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { statement } from '../../../db/statement.ts';

/**
 * Deliveries: one event for one endpoint.
 *
 * States: pending (due at `due_at`), then delivered or failed. Sending it again makes it pending with a new series of tries.
 *
 * Invariants
 * - One worker at a time sends to an endpoint: the one in `endpoint_senders`. Its lease is the lease of the worker, and
 *   ends when the worker's row is deleted.
 * - An attempt is recorded only after its answer, so a killed worker repeats it: at least once. A success is final unless
 *   somebody sends the event again, and ends every series, because the event has arrived. `attemptCount` is the fence of
 *   failures: one of an earlier series counts in a later one only if as many attempts precede it there.
 */

/** One attempt as the delivery log shows it. */
export interface DeliveryAttempt {
  readonly at: string;
  /** Null without an answer. */
  readonly status: number | null;
  /** The beginning of the answer; null without one, or once its user was erased. */
  readonly answer: string | null;
  /** Why it is no success; null for one. */
  readonly error: string | null;
}

/**
 * Claims up to `limit` endpoints with due deliveries that no other worker sends to. Returns their ids. They include those that
 * this worker has claimed in the database but, after a silence, no longer in memory: `claimed` has the others.
 */
export async function claimEndpoints(
  db: Db,
  worker: string,
  { claimed, limit }: { readonly claimed: readonly string[]; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with own as materialized (select id from workers where id = ${worker} for key share),
    due as materialized (
      select p.id from active_endpoints p
      where p.url is not null
        and p.id <> all(${claimed}::uuid[])
        and not exists (
          select from endpoint_senders s where s.endpoint_id = p.id and s.worker <> ${worker})
        and exists (
          select from deliveries d
          where d.endpoint_id = p.id and d.state = 'pending' and d.due_at <= ${statementTime})
      order by p.failing_since is not null, random() limit ${limit})
    insert into endpoint_senders (endpoint_id, worker)
    select due.id, own.id from due, own
    on conflict (endpoint_id) do update set worker = excluded.worker
      where endpoint_senders.worker = excluded.worker
    returning endpoint_id as id`.execute(db);
  return rows.map(({ id }) => id);
}

export async function releaseEndpoints(
  db: Db,
  worker: string,
  ids: readonly string[],
): Promise<void> {
  await sql`
    delete from endpoint_senders where worker = ${worker} and endpoint_id = any(${ids}::uuid[])`.execute(
    db,
  );
}

/** Frees the endpoints of workers whose row is gone. Their row preceded what they claimed, so one snapshot shows both. */
export async function freeLostEndpoints(db: Db): Promise<void> {
  await sql`
    delete from endpoint_senders s
    where not exists (select from workers w where w.id = s.worker)`.execute(db);
}

/** SQL: the payload of an endpoint `p`. Full data needs a key that may read it now. */
const payload = sql`case when p.api_key_id is null or exists (
  select from api_keys k where k.id = p.api_key_id and 'read' = any (k.permissions)) then p.payload else 'thin' end`;

/** A delivery to attempt now. */
export interface DueDelivery extends StoredEvent {
  readonly endpointId: string;
  readonly workspaceId: string;
  /** As `StoredSettings` has them. */
  readonly url: string;
  readonly sealedUrl: Buffer | null;
  readonly payload: EndpointPayload;
  readonly format: EndpointFormat;
  readonly sealedSecret: Buffer;
  /** Null unless it still signs. */
  readonly previousSealedSecret: Buffer | null;
  readonly isFailing: boolean;
  /** The last success that was recorded for the endpoint is more than a minute ago. */
  readonly isSuccessOld: boolean;
  readonly attemptCount: number;
  readonly subject: string | null;
  /** The database time. */
  readonly nowMs: number;
}

/**
 * The due deliveries of endpoints that the worker has claimed, up to a limit each. An endpoint that is disabled or deleted,
 * or that another worker has claimed by now, has none.
 */
export function readDue(
  send: Send,
  worker: string,
  claimed: readonly ClaimedEndpoint[],
): Promise<DueDelivery[]> {
  return send(selectDue, { worker, claimed });
}

/** A constant, by which the plan is chosen; no endpoint is read further. */
const dueMax = 2 * inFlightMax;

interface ClaimedEndpoint {
  readonly endpointId: string;
  /** Deliveries to read at most, up to `dueMax`. */
  readonly limit: number;
}

interface Claim {
  readonly worker: string;
  readonly claimed: readonly ClaimedEndpoint[];
}

const claimedEndpoints = rowSet<ClaimedEndpoint, Claim>(
  'h',
  { endpoint_id: ['uuid', (one) => one.endpointId], most: ['int', (one) => one.limit] },
  { read: ({ claimed }) => claimed },
);

const selectDue = statement<Claim, DueDelivery>('deliveries-read-due')`
  select p.id as endpoint_id, p.workspace_id, p.url, p.sealed_url, ${payload} as payload, p.format, p.sealed_secret,
    case when p.previous_until > clock_timestamp() then p.previous_sealed_secret end as previous_sealed_secret,
    p.failing_since is not null as is_failing,
    p.last_success_at is null or p.last_success_at < clock_timestamp() - interval '1 minute' as is_success_old,
    d.tries as attempt_count, e.id, e.type, e.at, e.sequence, e.subject, e.data,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
  from ${claimedEndpoints.table}
  join endpoint_senders s on s.endpoint_id = h.endpoint_id and s.worker = ${({ worker }) => worker}
  join active_endpoints p on p.id = h.endpoint_id and p.url is not null
  cross join lateral (
    select * from (
      select d.event_id, d.tries from deliveries d
      where d.endpoint_id = h.endpoint_id and d.state = 'pending' and d.due_at <= ${statementTime}
      order by d.due_at limit h.most) as pending
    limit ${sql.lit(dueMax)}) as d
  join events e on e.id = d.event_id`;

/** What `full` adds to the events of these executions. No entry for those whose data is deleted or waits to be erased; `null` for a large one. */
export async function readFullData(
  send: Send,
  executionIds: readonly string[],
): Promise<Map<string, FullData | null>> {
  const rows = await send(selectFullData, { executionIds, bounds: idBounds(executionIds) });
  return new Map(rows.map(({ id, large, ...full }) => [id, large ? null : full]));
}

interface FullDataOf {
  readonly executionIds: readonly string[];
  readonly bounds: ReturnType<typeof idBounds>;
}

type FullDataRow = FullData & { readonly id: string; readonly large: boolean };

const selectFullData = statement<FullDataOf, FullDataRow>('deliveries-read-full-data')`
  select id, large, case when not large then output end as output_text,
    case when not large then output_json end as output_json,
    case when not large then input_variables end as input_variables
  from (
    select e.id, o.output, o.output_json, e.input_variables, coalesce(octet_length(o.output), 0)
      + coalesce(octet_length(o.output_json::text), 0) + coalesce(octet_length(e.input_variables::text), 0)
      > ${sql.lit(bodyBytesMax)} as large
    from executions e
    left join lateral (
      select output, output_json from transient_outputs where execution_id = e.id offset 0) as t on true
    cross join lateral (
      select coalesce(e.output, t.output) as output, coalesce(e.output_json, t.output_json) as output_json) as o
    where e.id = any(${({ executionIds }) => executionIds}::uuid[])
      and e.id between ${({ bounds }) => bounds[0]}::uuid and ${({ bounds }) => bounds[1]}::uuid
      and not exists (select from erasure_executions x where x.execution_id = e.id)
      and not exists (select from erasure_workflow_runs x where x.run_id = e.workflow_run_id)
      and (o.output is not null or e.input_variables is not null or e.status in ('rate_limited', 'unauthorized'))
    offset 0) as e`;

/** The outcome of an attempt. */
export interface AttemptOutcome {
  readonly endpointId: string;
  readonly eventId: string;
  /** As read before the attempt. */
  readonly attemptCount: number;
  readonly attempt: DeliveryAttempt;
  readonly delivered: boolean;
  /** Until the next attempt; null if there is none. */
  readonly retryMs: number | null;
}

/** The newest attempts that the log keeps: an event may be sent again any number of times. */
const attemptsMax = 50;

export async function recordAttempts(
  send: Send,
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  await send(updateDeliveries, outcomes);
}

const outcomeRows = rowSet<AttemptOutcome>('g', {
  endpoint_id: ['uuid', (one) => one.endpointId],
  event_id: ['uuid', (one) => one.eventId],
  tries: ['int', (one) => one.attemptCount],
  attempt: ['jsonb', (one) => JSON.stringify(one.attempt)],
  delivered: ['bool', (one) => one.delivered],
  retry_ms: ['float8', (one) => one.retryMs],
});

const updateDeliveries = statement<readonly AttemptOutcome[]>('deliveries-record')`
  with given as materialized (select * from ${outcomeRows.table}),
  locked as materialized (
    select d.endpoint_id, d.event_id, d.erased from deliveries d
    join given g on g.endpoint_id = d.endpoint_id and g.event_id = d.event_id
    order by d.endpoint_id, d.event_id for update of d)
  update deliveries d set
    attempts = case when jsonb_array_length(d.attempts) >= ${sql.lit(attemptsMax)} then d.attempts - 0 else d.attempts end
      || case when l.erased then g.attempt || '{"answer": null}' else g.attempt end,
    tries = case when d.tries = g.tries then d.tries + 1 else d.tries end,
    state = case
      when g.delivered then 'delivered'
      when d.state = 'pending' and d.tries = g.tries and g.retry_ms is null then 'failed'
      else d.state end,
    due_at = case when d.tries = g.tries and g.retry_ms is not null
      then clock_timestamp() + g.retry_ms * interval '1 millisecond' else d.due_at end
  from given g join locked l on l.endpoint_id = g.endpoint_id and l.event_id = g.event_id
  where d.endpoint_id = g.endpoint_id and d.event_id = g.event_id`;

/** Records which endpoints answer: one that fails gets one request at a time. */
export async function recordHealth(send: Send, health: Health): Promise<void> {
  await send(updateHealth, health);
}

interface Health {
  readonly succeeded: readonly string[];
  readonly failed: readonly string[];
}

const succeededIds = sql`${({ succeeded }: Health) => succeeded}::uuid[]`;

const updateHealth = statement<Health>('endpoints-record-health')`
  with picked as materialized (
    select id from endpoints
    where id = any(${succeededIds}) or id = any(${({ failed }) => failed}::uuid[]) and failing_since is null
    order by id for no key update)
  update endpoints p set
    failing_since = case when p.id = any(${succeededIds}) then null else clock_timestamp() end,
    last_success_at = case when p.id = any(${succeededIds}) then clock_timestamp() else p.last_success_at end
  from picked where p.id = picked.id`;

export interface DeliveryRow extends StoredEvent {
  readonly state: DeliveryState;
  readonly attempts: readonly DeliveryAttempt[];
  /** Null unless it is pending. */
  readonly nextAttemptAt: Date | null;
}

export interface DeliveryFilter {
  readonly state: DeliveryState | null;
  readonly type: EventType | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** Newest first. */
export async function listDeliveries(
  db: Db,
  endpointId: string,
  filter: DeliveryFilter & { readonly before: string | null; readonly limit: number },
): Promise<DeliveryRow[]> {
  const { before, limit } = filter;
  const { rows } = await sql<DeliveryRow>`
    select e.id, e.type, e.at, e.sequence, e.data, d.state, d.attempts,
      case when d.state = 'pending' then d.due_at end as next_attempt_at
    from deliveries d join events e on e.id = d.event_id
    where d.endpoint_id = ${endpointId} and ${matching(filter)}
      and (${before}::uuid is null or d.event_id < ${before})
    order by d.event_id desc limit ${limit}`.execute(db);
  return rows;
}

export async function findDelivery(
  db: Db,
  endpointId: string,
  eventId: string,
): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`
    select e.id, e.type, e.at, e.sequence, e.data, d.state, d.attempts,
      case when d.state = 'pending' then d.due_at end as next_attempt_at
    from deliveries d join events e on e.id = d.event_id
    where d.endpoint_id = ${endpointId} and d.event_id = ${eventId}`.execute(db);
  return rows[0] ?? null;
}

/** SQL: a condition on delivery `d`. The id of an event contains its time. */
function matching({ state, type, startMs, endMs }: DeliveryFilter): Sql {
  const at = (ms: number) => sql`id_floor(to_timestamp(${ms}::float8 / 1000))`;
  return sql`(${state}::text is null or d.state = ${state}) and (${type}::text is null or d.type = ${type})
    and ${startMs === null ? sql`true` : sql`d.event_id >= ${at(startMs)}`}
    and ${endMs === null ? sql`true` : sql`d.event_id < ${at(endMs + 1)}`}`;
}

/**
 * Starts a new series of attempts, at once: of one event, or of those that no attempt is due for. Returns how many.
 */
export async function sendAgain(
  trx: Trx,
  endpointId: string,
  which: DeliveryFilter | { readonly eventId: string },
): Promise<number> {
  const condition =
    'eventId' in which
      ? sql`d.event_id = ${which.eventId}`
      : sql`(d.state <> 'pending' or d.due_at > clock_timestamp()) and ${matching(which)}`;
  const { rowCount } = await sql`
    with picked as materialized (
      select d.event_id from deliveries d
      where d.endpoint_id = ${endpointId} and ${condition}
        and exists (select from events e where e.id = d.event_id)
      order by d.event_id for update)
    update deliveries d set state = 'pending', tries = 0, due_at = clock_timestamp()
    from picked where d.endpoint_id = ${endpointId} and d.event_id = picked.event_id`.execute(trx);
  await sql`select pg_notify('cueline_event_queued', '')`.execute(trx);
  return rowCount;
}

/**
 * Deletes up to `limit` deliveries of old events and of deleted endpoints. Returns how many. Looks at each endpoint by the index,
 * because a scan of all deliveries for each of many steps would take hours.
 */
export async function deleteOldDeliveries(db: Db, limit: number): Promise<number> {
  const next = (condition: Sql) =>
    sql`select endpoint_id as id from deliveries where ${condition} order by endpoint_id limit 1`;
  const { rowCount } = await sql`
    with recursive found as (
      (${next(sql`true`)})
      union all
      select n.id from found f cross join lateral (${next(sql`endpoint_id > f.id`)}) as n)
    delete from deliveries d using (
      select o.endpoint_id, o.event_id from found f cross join lateral (
        select endpoint_id, event_id from deliveries
        where endpoint_id = f.id and event_id < (
          select case when exists (select from endpoints p where p.id = f.id)
            then id_floor(clock_timestamp() - make_interval(days => ${eventDays}))
            else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end)
        order by event_id limit ${limit} for update skip locked) as o
      limit ${limit}) as old
    where d.endpoint_id = old.endpoint_id and d.event_id = old.event_id`.execute(db);
  return rowCount;
}
