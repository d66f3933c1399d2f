import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import type { WebhookSignature } from '../rules/webhook.ts';

/** Inbound webhooks of workflows. Secrets are encrypted; this layer cannot decrypt them. */

export interface WebhookRow {
  readonly id: string;
  readonly workflowId: string;
  readonly name: string;
  readonly signature: WebhookSignature;
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

const columns = sql`id, workflow_id, name, signature, created_by, created_at`;

/** Newest first. */
export function listWebhooks(
  db: Db,
  workflowId: string,
  page: Page,
): Promise<{ rows: WebhookRow[]; total: number }> {
  const from = sql`workflow_webhooks where workflow_id = ${workflowId}`;
  return readPage(db, { columns, from, order: sql`id desc` }, page);
}

export async function countWebhooks(trx: Trx, workflowId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from workflow_webhooks where workflow_id = ${workflowId}`.execute(trx);
  return rows[0]?.n ?? 0;
}

export async function insertWebhook(
  trx: Trx,
  webhook: {
    readonly id: string;
    readonly workflowId: string;
    readonly workspaceId: string;
    readonly name: string;
    readonly signature: WebhookSignature;
    readonly sealedSecret: Buffer;
    readonly createdBy: string | null;
  },
): Promise<WebhookRow> {
  const { id, workflowId, workspaceId, name, signature, sealedSecret, createdBy } = webhook;
  const { rows } = await sql<WebhookRow>`
    insert into workflow_webhooks (id, workflow_id, workspace_id, name, signature, sealed_secret, created_by)
    values (${id}, ${workflowId}, ${workspaceId}, ${name}, ${signature}, ${sealedSecret}, ${createdBy})
    returning ${columns}`.execute(trx);
  if (!rows[0]) throw new Error('The insert returned no row.');
  return rows[0];
}

/** Null if the workflow has no such webhook. */
export async function findWebhook(
  db: Db,
  workflowId: string,
  id: string,
): Promise<WebhookRow | null> {
  const { rows } = await sql<WebhookRow>`
    select ${columns} from workflow_webhooks
    where id = ${id} and workflow_id = ${workflowId}`.execute(db);
  return rows[0] ?? null;
}

/** Null if the workflow has no such webhook. */
export async function replaceSecret(
  trx: Trx,
  workflowId: string,
  id: string,
  sealedSecret: Buffer,
): Promise<WebhookRow | null> {
  const { rows } = await sql<WebhookRow>`
    update workflow_webhooks set sealed_secret = ${sealedSecret}
    where id = ${id} and workflow_id = ${workflowId} returning ${columns}`.execute(trx);
  return rows[0] ?? null;
}

/** False if it does not exist. */
export async function deleteWebhook(trx: Trx, workflowId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql`
    delete from workflow_webhooks where id = ${id} and workflow_id = ${workflowId}`.execute(trx);
  return rowCount > 0;
}

/** The data to verify and start a call, and the current time. */
export interface WebhookTarget {
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly createdBy: string | null;
  readonly signature: WebhookSignature;
  readonly sealedSecret: Buffer;
}

export async function findWebhookTarget(
  db: Db,
  id: string,
): Promise<{ readonly target: WebhookTarget | null; readonly nowMs: number }> {
  const { rows } = await sql<
    { nowMs: number } & { [F in keyof WebhookTarget]: WebhookTarget[F] | null }
  >`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, k.*
    from (select 1) as always left join (
      select h.id, h.workflow_id, h.workspace_id, h.created_by, h.signature, h.sealed_secret
      from workflow_webhooks h join workflows w on w.id = h.workflow_id and w.deleted_at is null
      where h.id = ${id}) as k on true`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('The query returned no row.');
  const { nowMs, ...found } = row;
  return { target: found.id === null ? null : (found as WebhookTarget), nowMs };
}

export interface SealedWebhook {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealedSecret: Buffer;
}

/** The encrypted secrets of all workspaces, locked until the transaction ends. */
export async function lockSealedWebhooks(trx: Trx): Promise<SealedWebhook[]> {
  const { rows } = await sql<SealedWebhook>`
    select id, workspace_id, name, sealed_secret from workflow_webhooks
    order by id for update`.execute(trx);
  return rows;
}

export async function updateSealedWebhooks(
  trx: Trx,
  rows: readonly Pick<SealedWebhook, 'id' | 'sealedSecret'>[],
): Promise<void> {
  await sql`
    update workflow_webhooks h set sealed_secret = n.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.sealedSecret)}::bytea[])
      as n (id, sealed)
    where h.id = n.id`.execute(trx);
}
