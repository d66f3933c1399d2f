import { type Caller, sessionCaller } from '../../../core/people/caller.ts';
import { hashBytes } from '../../../core/people/key.ts';
import type { Role } from '../../../core/people/member.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { ownWorkspacesFirst } from './members.ts';

/** Authenticates callers outside admission: a key by its hash, a session by its user. Nothing is cached. */

/** The user of a session as a caller in the given workspace, else in the first one that the user owns or belongs to. */
export async function findSessionCaller(
  db: Db,
  userId: string,
  workspaceId: string | null,
): Promise<Caller | null> {
  const { rows } = await sql<{ workspaceId: string; role: Role }>`
    select m.workspace_id, m.role from members m
    where m.user_id = ${userId} and (${workspaceId}::uuid is null or m.workspace_id = ${workspaceId})
    order by ${ownWorkspacesFirst} limit 1`.execute(db);
  const member = rows[0];
  return member ? sessionCaller({ userId, ...member }) : null;
}

/** The origins that browsers may call an agent from: those of the agent and of the keys that can call it. */
export async function findAgentOrigins(db: Db, agentId: string): Promise<string[]> {
  const { rows } = await sql<{ origin: string }>`
    select unnest(a.allowed_origins) as origin from agents a where a.id = ${agentId} and a.deleted_at is null
    union
    select unnest(k.allowed_origins) from agents a
    join api_keys k on k.workspace_id = a.workspace_id
    where a.id = ${agentId} and a.deleted_at is null
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
      and (k.all_agents or exists (
        select from api_key_agents ka where ka.api_key_id = k.id and ka.agent_id = a.id))`.execute(
    db,
  );
  return rows.map((row) => row.origin);
}

/**
 * The origin itself if an agent with this slug or alias allows it, in any workspace, or if any valid key does. Which agents such a
 * key can call does not matter: names can be guessed, and the answer would tell anybody which of these agents exist.
 */
export async function findNamedAgentOrigins(
  db: Db,
  name: string,
  origin: string,
): Promise<string[]> {
  const { rows } = await sql`
    select from agents a where a.id = any (array(select subject from names where name = ${name}))
      and ${origin} = any (a.allowed_origins) and a.deleted_at is null
    limit 1`.execute(db);
  return rows.length > 0 ? [origin] : findKeyOrigins(db, origin);
}

/** The origins that browsers may call a workflow from: those of the keys that can call all agents of its pinned version. */
export async function findWorkflowOrigins(db: Db, workflowId: string): Promise<string[]> {
  const { rows } = await sql<{ origin: string }>`
    select distinct unnest(k.allowed_origins) as origin
    from workflows w
    join workflow_versions v on v.id = w.workflow_version_id
    join api_keys k on k.workspace_id = w.workspace_id
    where w.id = ${workflowId} and w.deleted_at is null
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
      and (k.all_agents or v.agent_ids <@ array(
        select ka.agent_id from api_key_agents ka where ka.api_key_id = k.id))`.execute(db);
  return rows.map((row) => row.origin);
}

/** The origin itself if any valid key allows it. */
export async function findKeyOrigins(db: Db, origin: string): Promise<string[]> {
  const { rows } = await sql`
    select from api_keys k
    where ${origin} = any (k.allowed_origins) and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())
    limit 1`.execute(db);
  return rows.length > 0 ? [origin] : [];
}

/**
 * Counts a list request of a key or user, or a webhook event, in the current UTC minute. Returns the new count. A count above
 * the limit is harmless, so it is never decremented.
 */
export async function countInMinute(
  db: Db,
  callerId: string,
  count = 1,
): Promise<{ used: number; nowMs: number; resetAtMs: number }> {
  const { rows } = await sql<{ used: number; nowMs: number; minute: number }>`
    insert into list_counts as c (caller, minute, used)
    values (${callerId}, floor(extract(epoch from clock_timestamp()) / 60)::bigint, ${count})
    on conflict (caller) do update set
      used = case when excluded.minute > c.minute then excluded.used else c.used + excluded.used end,
      minute = greatest(excluded.minute, c.minute)
    returning used, minute, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(
    db,
  );
  const { used, nowMs, minute } = rows[0] ?? { used: count, nowMs: 0, minute: 0 };
  return { used, nowMs, resetAtMs: (minute + 1) * 60_000 };
}

/** Sets the time of last use. Called for a batch of keys from time to time, not for each call. */
export async function markKeysUsed(db: Db, hashes: readonly string[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = clock_timestamp()
    where id in (select id from api_keys where hash = any (${hashes.map(hashBytes)}::bytea[]) order by id for update)`.execute(
    db,
  );
}
