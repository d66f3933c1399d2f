import { type RawBuilder, sql } from 'kysely';
import type { DeliveryState, EndpointFormat, EndpointPayload } from '../../core/event/endpoint.ts';
import {
  bodyBytesMax,
  type EventType,
  type FullData,
  type StoredEvent,
} from '../../core/event/event.ts';
import { eventDays } from '../../core/event/retry.ts';
import { statementTime } from '../connection/clock.ts';
import type { Db, Trx } from '../connection/database.ts';

/**
 * Deliveries: one event for one endpoint.
 *
 * States: pending (due at `due_at`), then delivered or failed. Sending it again makes it pending with a new series of tries.
 *
 * Invariants
 * - One worker at a time sends to an endpoint: the one in `endpoint_senders`. Its lease is the lease of the worker, and
 *   ends when the worker's row is deleted.
 * - An attempt is recorded only after its answer, so a killed worker repeats it: at least once. A success is final unless
 *   somebody sends the event again. `tries` is the fence: an attempt of an earlier series changes no later one.
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
 * Takes up to `limit` endpoints with due deliveries that no other worker sends to. Returns their ids. They include those that
 * this worker holds in the database but, after a silence, no longer in memory: `held` has the others.
 */
export async function takeEndpoints(
  db: Db,
  worker: string,
  { held, limit }: { readonly held: readonly string[]; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with own as materialized (select id from workers where id = ${worker} for key share),
    due as materialized (
      select p.id from active_endpoints p
      where p.url is not null
        and p.id <> all(${held}::uuid[])
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

/** Frees the endpoints of workers whose row is gone. Their row preceded what they took, so one snapshot shows both. */
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
  readonly url: string;
  readonly payload: EndpointPayload;
  readonly format: EndpointFormat;
  readonly sealedSecret: Buffer;
  /** Null unless it still signs. */
  readonly previousSealedSecret: Buffer | null;
  readonly isFailing: boolean;
  readonly tries: number;
  readonly subject: string | null;
  /** The database time. */
  readonly nowMs: number;
}

/**
 * The due deliveries of endpoints that the worker holds, up to a limit each. An endpoint that is disabled or deleted, or that
 * another worker holds by now, has none.
 */
export async function readDue(
  db: Db,
  worker: string,
  held: readonly { readonly endpointId: string; readonly limit: number }[],
): Promise<DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    select p.id as endpoint_id, p.workspace_id, p.url, ${payload} as payload, p.format, p.sealed_secret,
      case when p.previous_until > clock_timestamp() then p.previous_sealed_secret end as previous_sealed_secret,
      p.failing_since is not null as is_failing, d.tries, e.id, e.type, e.at, e.sequence, e.subject, e.data,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from unnest(${held.map(({ endpointId }) => endpointId)}::uuid[], ${held.map(({ limit }) => limit)}::int[])
      as h (endpoint_id, "limit")
    join endpoint_senders s on s.endpoint_id = h.endpoint_id and s.worker = ${worker}
    join active_endpoints p on p.id = h.endpoint_id and p.url is not null
    cross join lateral (
      select d.event_id, d.tries from deliveries d
      where d.endpoint_id = h.endpoint_id and d.state = 'pending' and d.due_at <= ${statementTime}
      order by d.due_at limit h."limit") as d
    join events e on e.id = d.event_id`.execute(db);
  return rows;
}

/** What `full` adds to the events of these executions. No entry for those whose data is deleted; `null` for a large one. */
export async function readFullData(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, FullData | null>> {
  const { rows } = await sql<FullData & { id: string; large: boolean }>`
    select id, large, case when not large then output end as output_text,
      case when not large then output_json end as output_json,
      case when not large then input_variables end as input_variables
    from (
      select e.id, o.output, o.output_json, e.input_variables, coalesce(octet_length(o.output), 0)
        + coalesce(octet_length(o.output_json::text), 0) + coalesce(octet_length(e.input_variables::text), 0)
        > ${bodyBytesMax} as large
      from executions e
      left join transient_outputs t on t.execution_id = e.id
      cross join lateral (
        select coalesce(e.output, t.output) as output, coalesce(e.output_json, t.output_json) as output_json) as o
      where e.id = any(${executionIds}::uuid[])
        and (o.output is not null or e.input_variables is not null or e.status in ('rate_limited', 'unauthorized'))
      offset 0) as e`.execute(db);
  return new Map(rows.map(({ id, large, ...full }) => [id, large ? null : full]));
}

/** The outcome of an attempt. */
export interface AttemptOutcome {
  readonly endpointId: string;
  readonly eventId: string;
  /** As read before the attempt. */
  readonly tries: number;
  readonly attempt: DeliveryAttempt;
  readonly delivered: boolean;
  /** Until the next attempt; null if there is none. */
  readonly retryMs: number | null;
}

/** The newest attempts that the log keeps: an event may be sent again any number of times. */
const attemptsMax = 50;

export async function recordAttempts(db: Db, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await sql`
    with given as materialized (
      select * from unnest(${outcomes.map((one) => one.endpointId)}::uuid[],
        ${outcomes.map((one) => one.eventId)}::uuid[], ${outcomes.map((one) => one.tries)}::int[],
        ${outcomes.map((one) => JSON.stringify(one.attempt))}::jsonb[],
        ${outcomes.map((one) => one.delivered)}::bool[], ${outcomes.map((one) => one.retryMs)}::float8[])
        as g (endpoint_id, event_id, tries, attempt, delivered, retry_ms)),
    locked as materialized (
      select d.endpoint_id, d.event_id from deliveries d
      join given g on g.endpoint_id = d.endpoint_id and g.event_id = d.event_id
      order by d.endpoint_id, d.event_id for update of d)
    update deliveries d set
      attempts = case when jsonb_array_length(d.attempts) >= ${attemptsMax}
        then (d.attempts - 0) || g.attempt else d.attempts || g.attempt end,
      tries = case when d.tries = g.tries then d.tries + 1 else d.tries end,
      state = case
        when g.delivered then 'delivered'
        when d.state = 'pending' and d.tries = g.tries and g.retry_ms is null then 'failed'
        else d.state end,
      due_at = case when d.tries = g.tries and g.retry_ms is not null
        then clock_timestamp() + g.retry_ms * interval '1 millisecond' else d.due_at end
    from given g join locked l on l.endpoint_id = g.endpoint_id and l.event_id = g.event_id
    where d.endpoint_id = g.endpoint_id and d.event_id = g.event_id`.execute(db);
}

/** Records which endpoints answer: one that fails gets one request at a time. */
export async function recordHealth(
  db: Db,
  {
    succeeded,
    failed,
  }: { readonly succeeded: readonly string[]; readonly failed: readonly string[] },
): Promise<void> {
  await sql`
    with picked as materialized (
      select id from endpoints
      where id = any(${succeeded}::uuid[])
          and (failing_since is not null or last_success_at is null or last_success_at < clock_timestamp() - interval '1 minute')
        or id = any(${failed}::uuid[]) and failing_since is null
      order by id for no key update)
    update endpoints p set
      failing_since = case when p.id = any(${succeeded}::uuid[]) then null else clock_timestamp() end,
      last_success_at = case when p.id = any(${succeeded}::uuid[]) then clock_timestamp() else p.last_success_at end
    from picked where p.id = picked.id`.execute(db);
}

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
function matching({ state, type, startMs, endMs }: DeliveryFilter): RawBuilder<unknown> {
  const at = (ms: number) => sql`id_floor(to_timestamp(${ms}::float8 / 1000))`;
  return sql`(${state}::text is null or d.state = ${state}) and (${type}::text is null or d.type = ${type})
    and ${startMs === null ? sql`true` : sql`d.event_id >= ${at(startMs)}`}
    and ${endMs === null ? sql`true` : sql`d.event_id < ${at(endMs + 1)}`}`;
}

/** Starts a new series of attempts, at once: of one event, or of those that are not pending. Returns how many. */
export async function sendAgain(
  trx: Trx,
  endpointId: string,
  which: DeliveryFilter | { readonly eventId: string },
): Promise<number> {
  const condition =
    'eventId' in which
      ? sql`d.event_id = ${which.eventId}`
      : sql`d.state <> 'pending' and ${matching(which)}`;
  const { numAffectedRows } = await sql`
    with picked as materialized (
      select d.event_id from deliveries d
      where d.endpoint_id = ${endpointId} and ${condition}
        and exists (select from events e where e.id = d.event_id)
      order by d.event_id for update)
    update deliveries d set state = 'pending', tries = 0, due_at = clock_timestamp()
    from picked where d.endpoint_id = ${endpointId} and d.event_id = picked.event_id`.execute(trx);
  await sql`select pg_notify('cueline_event_queued', '')`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Deletes the deliveries of up to `limit` old events, and those of deleted endpoints. Returns how many. */
export async function deleteOldDeliveries(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from deliveries d using (
      select endpoint_id, event_id from deliveries
      where event_id < id_floor(clock_timestamp() - make_interval(days => ${eventDays}))
        or not exists (select from endpoints p where p.id = endpoint_id)
      order by endpoint_id, event_id limit ${limit} for update skip locked) as old
    where d.endpoint_id = old.endpoint_id and d.event_id = old.event_id`.execute(db);
  return Number(numAffectedRows ?? 0);
}
