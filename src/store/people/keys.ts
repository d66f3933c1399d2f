import { sql } from 'kysely';
import type { Caller } from '../../core/execution/caller.ts';
import type { RateLimits } from '../../core/execution/limits.ts';
import { hashBytes, type Permission } from '../../core/people/key.ts';
import type { Role } from '../../core/people/member.ts';
import { type CountsRow, countsOf } from '../admission/limits.ts';
import { type Viewer, visibleTo } from '../agent/agents.ts';
import type { Db, Trx } from '../connection/database.ts';
import { type Page, readPage } from '../page.ts';

/** API keys for management. Admission and authentication read keys themselves. */

export interface KeyRow extends RateLimits, CountsRow {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly permissions: Permission[];
  readonly allAgents: boolean;
  readonly agentIds: string[];
  readonly allowedOrigins: string[];
  readonly issuedBy: string | null;
  /** Null after the membership of its issuer ended. */
  readonly issuerRole: Role | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** Revoked or expired. */
  readonly ended: boolean;
}

const ended = sql.raw(`(k.revoked_at is not null
  or k.expires_at is not null and k.expires_at <= clock_timestamp())`);
const columns = sql`k.id, k.name, k.start, k.permissions, k.all_agents, k.requests_per_minute,
  k.requests_per_hour, k.requests_per_day, k.allowed_origins, k.issued_by, k.created_at, k.expires_at,
  k.revoked_at, k.last_used_at, ${ended} as ended,
  (select role from members m where m.workspace_id = k.workspace_id and m.user_id = k.issued_by) as issuer_role, ${countsOf('k.id')},
  array(select agent_id from api_key_agents a where a.api_key_id = k.id order by agent_id) as agent_ids`;

/**
 * SQL: whether a caller sees key `k`. The issuer sees it, and so does everyone who sees all agents that it is restricted to.
 * A caller with a restricted key sees only keys restricted to a subset of its own agents.
 */
function keyVisibleTo({ workspaceId, userId, role, allAgents, agentIds }: Caller) {
  return sql`k.workspace_id = ${workspaceId}
    and (${allAgents} or not k.all_agents and not exists (
      select from api_key_agents a where a.api_key_id = k.id and a.agent_id <> all (${agentIds}::uuid[])))
    and (${role === 'owner'} or k.issued_by = ${userId} or not exists (
      select from api_key_agents a join agents g on g.id = a.agent_id
      where a.api_key_id = k.id and g.visibility = 'private' and g.created_by is distinct from ${userId}))`;
}

export async function findKey(db: Db, caller: Caller, keyId: string): Promise<KeyRow | null> {
  const { rows } = await sql<KeyRow>`
    select ${columns} from api_keys k where k.id = ${keyId} and ${keyVisibleTo(caller)}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Newest first. */
export function listKeys(
  db: Db,
  caller: Caller,
  page: Page,
): Promise<{ rows: KeyRow[]; total: number }> {
  const from = sql`api_keys k where ${keyVisibleTo(caller)}`;
  return readPage<KeyRow>(db, { columns, from, order: sql`k.id desc` }, page);
}

/** The current role of a user. The lock prevents a change of it until the transaction ends. */
export async function lockRole(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<Role | null> {
  const { rows } = await sql<{ role: Role }>`
    select role from members where workspace_id = ${workspaceId} and user_id = ${userId}
    for share`.execute(trx);
  return rows[0]?.role ?? null;
}

/** How many of these agents the caller sees. */
export async function countVisibleAgents(
  db: Db,
  viewer: Viewer,
  agentIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from agents a
    where a.id = any (${agentIds}::uuid[]) and ${visibleTo(viewer)}`.execute(db);
  return rows[0]?.n ?? 0;
}

export interface NewKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly hash: string;
  readonly start: string;
  readonly permissions: readonly Permission[];
  /** Null for all agents of the workspace. */
  readonly agentIds: readonly string[] | null;
  readonly limits: RateLimits;
  readonly allowedOrigins: readonly string[];
  readonly issuedBy: string;
  readonly expiresAtMs: number | null;
}

export async function insertKey(trx: Trx, key: NewKey): Promise<void> {
  const { requestsPerMinute, requestsPerHour, requestsPerDay } = key.limits;
  const expiresAt = key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString();
  await sql`
    with key as (
      insert into api_keys (id, workspace_id, name, hash, start, permissions, all_agents, requests_per_minute,
        requests_per_hour, requests_per_day, allowed_origins, issued_by, expires_at)
      values (${key.id}, ${key.workspaceId}, ${key.name}, ${hashBytes(key.hash)}, ${key.start},
        ${key.permissions}::text[], ${key.agentIds === null}, ${requestsPerMinute}, ${requestsPerHour},
        ${requestsPerDay}, ${key.allowedOrigins}::text[], ${key.issuedBy}, ${expiresAt})),
    restricted as (
      insert into api_key_agents (api_key_id, agent_id)
      select ${key.id}, unnest(${key.agentIds ?? []}::uuid[]))
    insert into limits (subject) values (${key.id})`.execute(trx);
}

/**
 * Copies a key with a new secret. It also copies the counts, because a new secret must not reset the rate limits.
 */
export async function copyKey(
  trx: Trx,
  oldId: string,
  key: Pick<NewKey, 'id' | 'hash' | 'start' | 'issuedBy'>,
): Promise<void> {
  await sql`
    with key as (
      insert into api_keys (id, workspace_id, name, hash, start, permissions, all_agents, requests_per_minute,
        requests_per_hour, requests_per_day, allowed_origins, issued_by, expires_at)
      select ${key.id}, workspace_id, name, ${hashBytes(key.hash)}, ${key.start}, permissions, all_agents,
        requests_per_minute, requests_per_hour, requests_per_day, allowed_origins, ${key.issuedBy}, expires_at
      from api_keys where id = ${oldId}),
    restricted as (
      insert into api_key_agents (api_key_id, agent_id)
      select ${key.id}, agent_id from api_key_agents where api_key_id = ${oldId})
    insert into limits (subject, minute, minute_used, hour, hour_used, day, day_used)
    select ${key.id}, minute, minute_used, hour, hour_used, day, day_used
    from limits where subject = ${oldId}`.execute(trx);
}

/** Lets a key expire after the grace period, or earlier if it expires anyway. Needs the lock of its limits. */
export async function expireKey(trx: Trx, keyId: string, graceSeconds: number): Promise<void> {
  await sql`
    update api_keys
    set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${graceSeconds}))
    where id = ${keyId}`.execute(trx);
}

/** Needs the lock of its limits. A revoked key keeps its time of revocation. */
export async function markRevoked(trx: Trx, keyId: string): Promise<void> {
  await sql`
    update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
    where id = ${keyId}`.execute(trx);
}
