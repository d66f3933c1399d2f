import type { RateLimits } from '../../../core/agent/limits.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { hashBytes, type Permission } from '../../../core/people/key.ts';
import type { Role } from '../../../core/people/member.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import { type CountsRow, countsOf } from '../../../engine/fields/limit-rows.ts';
import { type Viewer, visibleTo } from './visible-agents.ts';

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
  /** The keys that issued it, nearest first. */
  readonly issuingKeys: string[];
  /** The rows of limits that its calls count for: its own, then those of its issuing keys. */
  readonly limitSubjects: string[];
  /** Null after the membership of its issuer ended. */
  readonly issuerRole: Role | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** Revoked or expired. */
  readonly ended: boolean;
}

/** SQL: whether key `k` is revoked or expired. */
export const keyEnded = sql`(k.revoked_at is not null
  or k.expires_at is not null and k.expires_at <= clock_timestamp())`;
const columns = sql`k.id, k.name, k.start, k.permissions, k.all_agents, k.requests_per_minute,
  k.requests_per_hour, k.requests_per_day, k.allowed_origins, k.issued_by, k.created_at, k.expires_at,
  k.revoked_at, k.last_used_at, k.issuing_keys, k.limit_subjects, ${keyEnded} as ended,
  (select role from members m where m.workspace_id = k.workspace_id and m.user_id = k.issued_by) as issuer_role, ${countsOf(sql`k.limit_subjects[1]`)},
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

/** Newest first; with `revoked`, only those or all others. */
export function listKeys(
  db: Db,
  caller: Caller,
  { revoked = null, ...page }: Page & { readonly revoked?: boolean | null },
): Promise<{ rows: KeyRow[]; total: number }> {
  const wanted = revoked === null ? sql`` : sql`and (k.revoked_at is not null) = ${revoked}`;
  const from = sql`api_keys k where ${keyVisibleTo(caller)} ${wanted}`;
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
  readonly chain: KeyChain;
}

/** The keys that issue a new key, nearest first, and the rows of limits that their calls count for. */
export interface KeyChain {
  readonly issuingKeys: readonly string[];
  readonly limitSubjects: readonly string[];
}

/** Locks the limits of keys and of the keys that issued them, like admission. */
export async function lockKeys(trx: Trx, keyIds: readonly string[]): Promise<void> {
  await sql`
    select subject from limits
    where subject in (select unnest(limit_subjects) from api_keys where id = any (${keyIds}::uuid[]))
    order by subject for update`.execute(trx);
}

export async function insertKey(trx: Trx, key: NewKey): Promise<void> {
  const { requestsPerMinute, requestsPerHour, requestsPerDay } = key.limits;
  const expiresAt = key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString();
  await sql`
    with key as (
      insert into api_keys (id, workspace_id, name, hash, start, permissions, all_agents, requests_per_minute,
        requests_per_hour, requests_per_day, allowed_origins, issued_by, expires_at, issuing_keys, limit_subjects)
      values (${key.id}, ${key.workspaceId}, ${key.name}, ${hashBytes(key.hash)}, ${key.start},
        ${key.permissions}::text[], ${key.agentIds === null}, ${requestsPerMinute}, ${requestsPerHour},
        ${requestsPerDay}, ${key.allowedOrigins}::text[], ${key.issuedBy}, ${expiresAt},
        ${key.chain.issuingKeys}::uuid[], ${[key.id, ...key.chain.limitSubjects]}::uuid[])),
    restricted as (
      insert into api_key_agents (api_key_id, agent_id)
      select ${key.id}, unnest(${key.agentIds ?? []}::uuid[]))
    insert into limits (subject) values (${key.id})`.execute(trx);
}

/** Copies a key with a new secret. Both count for the same row of limits: a new secret is no new allowance, even in a grace. */
export async function copyKey(
  trx: Trx,
  oldId: string,
  key: Pick<NewKey, 'id' | 'hash' | 'start' | 'issuedBy' | 'chain'>,
): Promise<void> {
  await sql`
    with key as (
      insert into api_keys (id, workspace_id, name, hash, start, permissions, all_agents, requests_per_minute,
        requests_per_hour, requests_per_day, allowed_origins, issued_by, expires_at, issuing_keys, limit_subjects)
      select ${key.id}, workspace_id, name, ${hashBytes(key.hash)}, ${key.start}, permissions, all_agents,
        requests_per_minute, requests_per_hour, requests_per_day, allowed_origins, ${key.issuedBy}, expires_at,
        ${key.chain.issuingKeys}::uuid[], limit_subjects[1] || ${key.chain.limitSubjects}::uuid[]
      from api_keys where id = ${oldId})
    insert into api_key_agents (api_key_id, agent_id)
    select ${key.id}, agent_id from api_key_agents where api_key_id = ${oldId}`.execute(trx);
}

/** Needs the lock of its limits. */
export async function writeKey(
  trx: Trx,
  keyId: string,
  { name, limits }: Pick<NewKey, 'name' | 'limits'>,
): Promise<void> {
  const { requestsPerMinute, requestsPerHour, requestsPerDay } = limits;
  await sql`
    update api_keys set name = ${name}, requests_per_minute = ${requestsPerMinute},
      requests_per_hour = ${requestsPerHour}, requests_per_day = ${requestsPerDay}
    where id = ${keyId}`.execute(trx);
}

/** SQL: a key and the keys that it issued, and so on. They end with it. */
function withIssued(keyId: string) {
  return sql`id in (
    select k.id from api_keys k
    where k.workspace_id = (select workspace_id from api_keys where id = ${keyId})
      and (k.id = ${keyId} or ${keyId} = any (k.issuing_keys))
    order by k.id for update)`;
}

/**
 * Lets a key and the keys that it issued expire after the grace period, or earlier if they expire anyway. Needs the lock of
 * its limits, which the admission of all of them takes.
 */
export async function expireKey(trx: Trx, keyId: string, graceSeconds: number): Promise<void> {
  await sql`
    update api_keys
    set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${graceSeconds}))
    where ${withIssued(keyId)}`.execute(trx);
}

/** Also revokes the keys that it issued. Needs the lock of its limits. Returns the keys that were not revoked before. */
export async function markRevoked(trx: Trx, keyId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_keys set revoked_at = clock_timestamp()
    where revoked_at is null and ${withIssued(keyId)} returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

export interface ExpiringKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly expiresAt: Date;
  readonly nowMs: number;
}

/** Marks keys that expire within seven days as reported, in workspaces with an endpoint for it. Returns those not reported before. */
export async function reportExpiringKeys(trx: Trx): Promise<ExpiringKey[]> {
  const { rows } = await sql<ExpiringKey>`
    with expiring as materialized (
      select k.id from api_keys k
      where k.expires_at > clock_timestamp() and k.expires_at <= clock_timestamp() + interval '7 days'
        and k.revoked_at is null and k.expiry_reported_at is null
        and exists (
          select from active_endpoints p
          where p.workspace_id = k.workspace_id and 'key.expiring' = any (p.event_types))
      order by k.id limit 1000 for update of k skip locked)
    update api_keys k set expiry_reported_at = clock_timestamp() from expiring e where k.id = e.id
    returning k.id, k.workspace_id, k.expires_at,
      (extract(epoch from k.expiry_reported_at) * 1000)::float8 as now_ms`.execute(trx);
  return rows;
}
