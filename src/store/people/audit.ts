import { CompiledQuery, sql } from 'kysely';
import type { Actor, AuditAction, AuditLine } from '../../core/people/audit.ts';
import type { Db, Trx } from '../connection/database.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import { type Page, readPage } from '../page.ts';

/** The audit log. A line is written in the transaction of the change that it describes, and never modified. */

export async function writeAudit(trx: Trx, actor: Actor, line: AuditLine): Promise<void> {
  await trx.executeQuery(CompiledQuery.raw(insertLine.text, lineValues(actor, line)));
}

/** Like `writeAudit`, on a pipelined connection. */
export async function sendAudit(send: Send, actor: Actor, line: AuditLine): Promise<void> {
  await send(insertLine, lineValues(actor, line));
}

// The id is a UUIDv7 of the database time.
const insertLine: Statement = {
  name: 'audit-insert-line',
  text: `insert into audit (id, workspace_id, user_id, api_key_id, action, subject, details)
    values ((substr(id_floor(clock_timestamp())::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
      $1, $2, $3, $4, $5, $6)`,
};

function lineValues({ workspaceId, userId, apiKeyId }: Actor, line: AuditLine): Value[] {
  const { action, subject, details = {} } = line;
  return [workspaceId, userId, apiKeyId, action, subject, JSON.stringify(details)];
}

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

/** Newest first. */
export function listAudit(
  db: Db,
  workspaceId: string,
  request: Page & { readonly action: AuditAction | null },
): Promise<{ rows: AuditRow[]; total: number }> {
  const { action } = request;
  const columns = sql.raw('id, at, user_id, api_key_id, action, subject, details');
  const from = sql`audit where workspace_id = ${workspaceId}
    ${action === null ? sql`` : sql`and action = ${action}`}`;
  return readPage<AuditRow>(db, { columns, from, order: sql`id desc` }, request);
}
