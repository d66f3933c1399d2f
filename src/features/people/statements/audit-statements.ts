import { toId } from '../../../core/id.ts';
import {
  type Actor,
  type AuditAction,
  type AuditEntry,
  commandActor,
  personalDays,
} from '../../../core/people/audit.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import type { Send } from '../../../db/pipeline.ts';
import { sql } from '../../../db/sql.ts';
import { type Fragment, statement } from '../../../db/statement.ts';

/**
 * The audit log. An entry is written in the transaction of the change that it describes, and never modified. Only its
 * addresses of people are deleted after a time, and URLs that an earlier version wrote.
 */

/** In the transaction of the change, unless the entry describes something that changes no row. */
export async function writeAudit(db: Db, actor: Actor, entry: AuditEntry): Promise<void> {
  const { text, values } = insertEntry;
  await db.run({ text, values: values({ ...actor, ...entry, of: actor.workspaceId }) });
}

/** Writes an entry about a user to every workspace of the user. `userId` is null if somebody else may have acted. */
export async function writeUserAudit(
  db: Db,
  user: { readonly id: string },
  actor: Omit<Actor, 'workspaceId'>,
  entry: Omit<AuditEntry, 'subject'>,
): Promise<void> {
  const { text, values } = insertUserEntries;
  const subject = toId('user', user.id);
  await db.run({ text, values: values({ ...actor, ...entry, subject, of: user.id }) });
}

/** Writes an entry about the whole installation to every workspace, each with itself as the subject. */
export async function writeAuditEverywhere(
  trx: Trx,
  entry: Omit<AuditEntry, 'subject'>,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from workspaces order by id`.execute(trx);
  for (const { id } of rows) {
    await writeAudit(trx, commandActor(id), { ...entry, subject: toId('workspace', id) });
  }
}

/** Like `writeAudit`, on a pipelined connection. */
export async function sendAudit(send: Send, actor: Actor, entry: AuditEntry): Promise<void> {
  await send(insertEntry, { ...actor, ...entry, of: actor.workspaceId });
}

interface NewEntry extends Omit<Actor, 'workspaceId'>, AuditEntry {
  /** The workspace, or the user whose workspaces get the entry. */
  readonly of: string;
}

// The id is a UUIDv7 of the database time.
const insertInto = (name: string, workspaces: Fragment<NewEntry>) => statement<NewEntry>(name)`
  insert into audit (id, workspace_id, user_id, api_key_id, action, subject, details, personal)
  select (substr(id_floor(clock_timestamp())::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
    workspace_id, ${({ userId }) => userId}, ${({ apiKeyId }) => apiKeyId}, ${({ action }) => action},
    ${({ subject }) => subject},
    ${({ details = {}, via }) => JSON.stringify(via ? { ...details, via } : details)},
    ${({ personal }) => personal && JSON.stringify(personal)}
  from (${workspaces}) as workspaces (workspace_id)`;

const insertEntry = insertInto('audit-insert-entry', sql`select ${({ of }: NewEntry) => of}::uuid`);
const insertUserEntries = insertInto(
  'audit-insert-user-entries',
  sql`select workspace_id from members where user_id = ${({ of }: NewEntry) => of}`,
);

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  readonly action: AuditAction;
  readonly subject: string;
  /** JSON text. */
  readonly details: string;
}

export interface AuditQuery extends Page {
  readonly action: AuditAction | null;
  /** Stored id. */
  readonly userId: string | null;
  readonly subject: string | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** Newest first. */
export function listAudit(
  db: Db,
  workspaceId: string,
  request: AuditQuery,
): Promise<{ rows: AuditRow[]; total: number }> {
  const { action, userId, subject, startMs, endMs } = request;
  const columns = sql`id, at, user_id, api_key_id, action, subject,
    case when personal is null then details else (details::jsonb || personal)::json end as details`;
  const from = sql`audit where workspace_id = ${workspaceId}
    ${action === null ? sql`` : sql`and action = ${action}`}
    ${userId === null ? sql`` : sql`and user_id = ${userId}`}
    ${subject === null ? sql`` : sql`and subject = ${subject}`}
    ${startMs === null ? sql`` : sql`and at >= ${new Date(startMs)}`}
    ${endMs === null ? sql`` : sql`and at < ${new Date(endMs + 1)}`}`;
  return readPage<AuditRow>(db, { columns, from, order: sql`id desc` }, request);
}

/** An entry of an earlier version about a new endpoint keeps the host of its URL only. */
export async function shortenAuditedURL(
  trx: Trx,
  { workspaceId, subject, host }: Readonly<Record<'workspaceId' | 'subject' | 'host', string>>,
): Promise<void> {
  await sql`
    update audit set details = ((details::jsonb - 'url') || jsonb_build_object('host', ${host}::text))::json
    where workspace_id = ${workspaceId} and action = 'endpoint.create' and subject = ${subject}
      and details::jsonb ? 'url'`.execute(trx);
}

/** Deletes the addresses of people in up to `limit` old entries. Returns how many. */
export async function deleteOldPersonal(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    update audit set personal = null where id in (
      select id from audit
      where personal is not null and at < ${statementTime} - make_interval(days => ${personalDays})
      order by at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Deletes the addresses of a user whose account is being deleted. */
export async function deletePersonalOf(
  trx: Trx,
  user: { readonly id: string; readonly email: string },
): Promise<void> {
  await sql`
    update audit set personal = null
    where personal is not null
      and (subject = ${toId('user', user.id)} or personal ->> 'email' = ${user.email})`.execute(
    trx,
  );
}
