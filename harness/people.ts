import { keyDefaultLimits, type RateLimits } from '../src/core/agent/limits.ts';
import { fromId, toId } from '../src/core/id.ts';
import {
  generateKey,
  hashBytes,
  hashKey,
  keyStart,
  type Permission,
  permissions,
} from '../src/core/people/key.ts';
import type { Role } from '../src/core/people/member.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { freshId } from './fresh-id.ts';

/** Workspaces, members and keys, inserted into the tables. Ids are stored ids unless named wire ids. */

export async function addWorkspace(db: Db): Promise<{ workspaceId: string; ownerId: string }> {
  const workspaceId = freshId();
  await sql`insert into workspaces (id, name) values (${workspaceId}, 'Test')`.execute(db);
  await sql`insert into limits (subject) values (${workspaceId})`.execute(db);
  return { workspaceId, ownerId: await addMember(db, workspaceId, 'owner') };
}

export async function addMember(db: Db, workspaceId: string, role: Role): Promise<string> {
  const id = freshId();
  await sql`insert into users (id, name, email) values (${id}, ${role}, ${`${id}@example.com`})`.execute(
    db,
  );
  await sql`insert into members (workspace_id, user_id, role) values (${workspaceId}, ${id}, ${role})`.execute(
    db,
  );
  return id;
}

export interface KeyOptions {
  /** Everything that its issuer and its agents allow by default: `own` needs an owner and the whole workspace. */
  readonly permissions?: readonly Permission[];
  /** Wire ids of its agents; the whole workspace by default. */
  readonly agentIds?: readonly string[];
  /** Overrides of the default limits. */
  readonly rateLimits?: Partial<RateLimits>;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly allowedOrigins?: readonly string[];
}

export interface TestKey {
  /** The secret. */
  readonly key: string;
  /** The stored id, and the wire id. */
  readonly id: string;
  readonly apiKeyId: string;
}

export async function addKey(
  db: Db,
  issuer: { readonly workspaceId: string; readonly userId: string },
  options: KeyOptions,
): Promise<TestKey> {
  const id = freshId();
  const key = generateKey();
  const limits = { ...keyDefaultLimits, ...options.rateLimits };
  const granted = options.permissions ?? (await permissionsOf(db, issuer, options));
  await sql`insert into limits (subject) values (${id})`.execute(db);
  await sql`
    insert into api_keys (id, workspace_id, name, hash, start, permissions, all_agents, requests_per_minute,
      requests_per_hour, requests_per_day, allowed_origins, issued_by, expires_at, revoked_at, limit_subjects)
    values (${id}, ${issuer.workspaceId}, 'test', ${hashBytes(hashKey(key))}, ${keyStart(key)}, ${granted}::text[],
      ${options.agentIds === undefined}, ${limits.requestsPerMinute}, ${limits.requestsPerHour},
      ${limits.requestsPerDay}, ${options.allowedOrigins ?? []}::text[], ${issuer.userId},
      ${options.expiresAt ?? null}, ${options.revokedAt ?? null}, array[${id}::uuid])`.execute(db);
  await sql`
    insert into api_key_agents (api_key_id, agent_id)
    select ${id}, unnest(${(options.agentIds ?? []).map((one) => fromId('agent', one))}::uuid[])`.execute(
    db,
  );
  return { key, id, apiKeyId: toId('key', id) };
}

async function permissionsOf(
  db: Db,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  { agentIds }: KeyOptions,
): Promise<readonly Permission[]> {
  const { rows } = await sql<{ role: Role }>`
    select role from members where workspace_id = ${workspaceId} and user_id = ${userId}`.execute(
    db,
  );
  const owns = agentIds === undefined && rows[0]?.role === 'owner';
  return permissions.filter((one) => owns || one !== 'own');
}
