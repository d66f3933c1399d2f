import {
  type DisabledReason,
  type EndpointSettings,
  silentMinutesMax,
} from '../../../core/event/endpoint.ts';
import { failingDaysMax } from '../../../core/event/retry.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/**
 * Endpoints of a workspace. Secrets and URLs are encrypted; this layer cannot decrypt them.
 *
 * States: enabled, disabled (with a reason). A disabled endpoint gets no events, and what was pending fails: the first rows in
 * the transaction that disables it, the others in later steps, all before it is enabled.
 */

/** The settings as they are stored. */
export interface StoredSettings extends EndpointSettings {
  /** See `storedOrigin`; or the URL itself, as an earlier version writes it. Null for a pull endpoint. */
  readonly url: string | null;
  readonly sealedUrl: Buffer | null;
}

export interface EndpointRow extends StoredSettings {
  readonly id: string;
  readonly enabled: boolean;
  readonly disabledBecause: DisabledReason | null;
  readonly disabledAt: Date | null;
  readonly createdBy: string | null;
  readonly apiKeyId: string | null;
  readonly createdAt: Date;
  readonly failingSince: Date | null;
  readonly lastSuccessAt: Date | null;
  /** How many deliveries are pending; 0 while it is disabled. */
  readonly pending: number;
}

const columns = sql`p.id, p.url, p.sealed_url, p.event_types, p.agent_ids, p.payload, p.format, p.description, p.enabled,
  p.disabled_because, p.disabled_at, p.created_by, p.api_key_id, p.created_at, p.failing_since, p.last_success_at,
  (select count(*) from deliveries d where p.enabled and d.endpoint_id = p.id and d.state = 'pending') as pending`;

/** Oldest first. */
export async function listEndpoints(db: Db, workspaceId: string): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    select ${columns} from endpoints p where p.workspace_id = ${workspaceId} order by p.id`.execute(
    db,
  );
  return rows;
}

export async function findEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<EndpointRow | null> {
  const { rows } = await sql<EndpointRow>`
    select ${columns} from endpoints p where p.id = ${id} and p.workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Locks the endpoint, so that changes of it take turns. */
export async function lockEndpoint(
  trx: Trx,
  workspaceId: string,
  id: string,
): Promise<EndpointRow | null> {
  await sql`
    select from endpoints where id = ${id} and workspace_id = ${workspaceId} for no key update`.execute(
    trx,
  );
  return findEndpoint(trx, workspaceId, id);
}

/** Locks the workspace's row, so that two concurrent requests together cannot exceed the limit. */
export async function countEndpoints(trx: Trx, workspaceId: string): Promise<number> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(trx);
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from endpoints where workspace_id = ${workspaceId}`.execute(trx);
  return rows[0]?.n ?? 0;
}

export interface NewEndpoint extends StoredSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly sealedSecret: Buffer;
  readonly createdBy: string | null;
  readonly apiKeyId: string | null;
}

/** Also creates the counter of the workspace: from now on events are written. */
export async function insertEndpoint(trx: Trx, endpoint: NewEndpoint): Promise<void> {
  const { id, workspaceId, url, sealedUrl, eventTypes, agentIds, payload, format } = endpoint;
  await sql`
    insert into endpoints (id, workspace_id, url, sealed_url, event_types, agent_ids, payload, format, description,
      sealed_secret, created_by, api_key_id)
    values (${id}, ${workspaceId}, ${url}, ${sealedUrl}, ${eventTypes}::text[], ${agentIds}::uuid[], ${payload}, ${format},
      ${endpoint.description}, ${endpoint.sealedSecret}, ${endpoint.createdBy}, ${endpoint.apiKeyId})`.execute(
    trx,
  );
  await sql`
    insert into event_counters (workspace_id) values (${workspaceId}) on conflict do nothing`.execute(
    trx,
  );
}

/** An endpoint that becomes a pull endpoint has ten minutes until its first reader. */
export async function writeEndpoint(trx: Trx, id: string, settings: StoredSettings): Promise<void> {
  const { url, sealedUrl, eventTypes, agentIds, payload, format, description } = settings;
  await sql`
    update endpoints set url = ${url}, sealed_url = ${sealedUrl}, event_types = ${eventTypes}::text[], agent_ids = ${agentIds}::uuid[],
      payload = ${payload}, format = ${format}, description = ${description},
      last_read_at = case when ${url}::text is null and url is not null then clock_timestamp() else last_read_at end,
      updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** Enables a disabled endpoint; what it failed at before no longer counts. */
export async function markEnabled(trx: Trx, id: string): Promise<void> {
  await sql`
    update endpoints set enabled = true, disabled_because = null, disabled_at = null, failing_since = null,
      last_read_at = clock_timestamp(), updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** Whether the key that created the enabled endpoint has ended or lost its permission. */
export async function hasEndedKey(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from endpoints p where p.id = ${id} and p.enabled and p.api_key_id is not null
      and not exists (select from active_endpoints a where a.id = p.id)`.execute(db);
  return rows.length > 0;
}

/** The endpoint belongs to somebody else from now on. */
export async function setEndpointOwner(
  trx: Trx,
  id: string,
  owner: { readonly createdBy: string | null; readonly apiKeyId: string | null },
): Promise<void> {
  await sql`
    update endpoints set created_by = ${owner.createdBy}, api_key_id = ${owner.apiKeyId} where id = ${id}`.execute(
    trx,
  );
}

export interface DisabledEndpoint {
  readonly workspaceId: string;
  readonly atMs: number;
}

/** Disables an enabled endpoint, so that its pending deliveries fail. Null if it is not enabled. */
export async function markDisabled(
  trx: Trx,
  id: string,
  reason: DisabledReason,
): Promise<DisabledEndpoint | null> {
  const { rows } = await sql<DisabledEndpoint>`
    update endpoints set enabled = false, disabled_because = ${reason}, disabled_at = clock_timestamp(),
      updated_at = clock_timestamp()
    where id = ${id} and enabled
    returning workspace_id, (extract(epoch from disabled_at) * 1000)::float8 as at_ms`.execute(trx);
  if (!rows[0]) return null;
  await failPending(trx, id);
  return rows[0];
}

/** A dead endpoint may have millions of pending deliveries. */
const failedMax = 1_000;

/**
 * Fails pending deliveries of disabled endpoints, or of one of them, up to a limit. Returns how many. The endpoints are locked,
 * so that none is enabled meanwhile.
 */
async function failPending(db: Db, endpointId: string | null = null): Promise<number> {
  const { rowCount } = await sql`
    with disabled as materialized (
      select id from endpoints
      where not enabled and (${endpointId}::uuid is null or id = ${endpointId}) order by id for share),
    picked as materialized (
      select p.id as endpoint_id, d.event_id from disabled p cross join lateral (
        select event_id from deliveries where endpoint_id = p.id and state = 'pending'
        order by due_at limit ${failedMax}) as d
      limit ${failedMax}),
    pending as materialized (
      select d.endpoint_id, d.event_id from deliveries d
      join picked p on p.endpoint_id = d.endpoint_id and p.event_id = d.event_id
      where d.state = 'pending' order by d.endpoint_id, d.event_id for update of d)
    update deliveries d set state = 'failed' from pending p
    where d.endpoint_id = p.endpoint_id and d.event_id = p.event_id`.execute(db);
  return rowCount;
}

/** Repeats `failPending` until nothing is left. Outside a transaction, each step is a transaction of its own. */
export async function failAllPending(db: Db, endpointId: string | null = null): Promise<void> {
  while ((await failPending(db, endpointId)) > 0);
}

/** The current secret becomes the previous one, which still signs for the grace period. */
export async function replaceEndpointSecret(
  trx: Trx,
  id: string,
  secret: { readonly sealedSecret: Buffer; readonly graceSeconds: number },
): Promise<void> {
  const { sealedSecret, graceSeconds } = secret;
  const isKept = graceSeconds > 0;
  await sql`
    update endpoints set sealed_secret = ${sealedSecret}, updated_at = clock_timestamp(),
      previous_sealed_secret = case when ${isKept} then sealed_secret end,
      previous_until = case when ${isKept} then clock_timestamp() + make_interval(secs => ${graceSeconds}) end
    where id = ${id}`.execute(trx);
}

/** Its deliveries are deleted later (`deleteOldDeliveries`). False if it does not exist. */
export async function deleteEndpoint(trx: Trx, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql`
    delete from endpoints where id = ${id} and workspace_id = ${workspaceId}`.execute(trx);
  return rowCount > 0;
}

/** Records that the events of a pull endpoint were read. False if the workspace has no such endpoint. */
export async function markRead(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    with seen as (
      update endpoints set last_read_at = clock_timestamp()
      where id = ${id} and workspace_id = ${workspaceId} and url is null
        and last_read_at < clock_timestamp() - interval '10 seconds')
    select from endpoints where id = ${id} and workspace_id = ${workspaceId}`.execute(db);
  return rows.length > 0;
}

export interface EndpointKey {
  readonly id: string;
  readonly workspaceId: string;
}

/** Pull endpoints that nobody reads. */
export async function findSilentEndpoints(db: Db): Promise<EndpointKey[]> {
  const { rows } = await sql<EndpointKey>`
    select id, workspace_id from endpoints
    where url is null and last_read_at < clock_timestamp() - make_interval(mins => ${silentMinutesMax})
    order by id`.execute(db);
  return rows;
}

/** Enabled endpoints whose key has ended or lost its permission. */
export async function findEndpointsOfEndedKeys(db: Db): Promise<EndpointKey[]> {
  const { rows } = await sql<EndpointKey>`
    select id, workspace_id from endpoints p
    where p.enabled and p.api_key_id is not null
      and not exists (select from active_endpoints a where a.id = p.id)
    order by id`.execute(db);
  return rows;
}

/** Of these endpoints, those without a success for days. */
export async function findFailingEndpoints(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from endpoints
    where id = any(${ids}::uuid[]) and enabled
      and failing_since < clock_timestamp() - make_interval(days => ${failingDaysMax})
    order by id`.execute(db);
  return rows.map(({ id }) => id);
}

export interface PlainURL {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
}

/**
 * Up to `limit` endpoints whose URL an earlier version wrote, locked until the transaction ends. None while a worker of such a version
 * is there, which sends to the text in `url`.
 */
export async function lockPlainURLs(trx: Trx, limit: number): Promise<PlainURL[]> {
  const { rows } = await sql<PlainURL>`
    select id, workspace_id, url from endpoints
    where url not like 'sealed:%' and not exists (select from workers where not opens_urls)
    order by id limit ${limit} for no key update`.execute(trx);
  return rows;
}

export async function writeSealedURLs(
  trx: Trx,
  rows: readonly { readonly id: string; readonly url: string; readonly sealedUrl: Buffer }[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const urls = rows.map(({ url }) => url);
  const sealed = rows.map(({ sealedUrl }) => sealedUrl);
  await sql`
    update endpoints p set url = n.url, sealed_url = n.sealed
    from unnest(${ids}::uuid[], ${urls}::text[], ${sealed}::bytea[]) as n (id, url, sealed)
    where p.id = n.id`.execute(trx);
}

export interface SealedEndpoint {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string | null;
  readonly sealedUrl: Buffer | null;
  readonly sealedSecret: Buffer;
  readonly previousSealedSecret: Buffer | null;
}

/** The encrypted secrets and URLs of all workspaces, locked until the transaction ends. */
export async function lockSealedEndpoints(trx: Trx): Promise<SealedEndpoint[]> {
  const { rows } = await sql<SealedEndpoint>`
    select id, workspace_id, url, sealed_url, sealed_secret, previous_sealed_secret
    from endpoints order by id for update`.execute(trx);
  return rows;
}

export async function updateSealedEndpoints(
  trx: Trx,
  rows: readonly { readonly id: string; readonly sealed: Buffer }[],
  column: 'sealed_secret' | 'previous_sealed_secret' | 'sealed_url',
): Promise<void> {
  await sql`
    update endpoints p set ${sql.raw(column)} = n.sealed
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ sealed }) => sealed)}::bytea[])
      as n (id, sealed)
    where p.id = n.id`.execute(trx);
}

export interface EndpointTotals {
  readonly pending: number;
  readonly disabled: number;
}

/** For metrics. */
export async function countEndpointStates(db: Db): Promise<EndpointTotals> {
  const { rows } = await sql<EndpointTotals>`
    select (
        select count(*) from deliveries d join endpoints p on p.id = d.endpoint_id
        where p.enabled and d.state = 'pending') as pending,
      (select count(*) from endpoints where not enabled) as disabled`.execute(db);
  return rows[0] ?? { pending: 0, disabled: 0 };
}
