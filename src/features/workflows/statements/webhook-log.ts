import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The last events of a webhook, without their bodies. */

export interface WebhookLogRow {
  readonly receivedAt: Date;
  readonly status: number;
  readonly eventId: string | null;
  readonly runId: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

export type NewWebhookEvent = Omit<WebhookLogRow, 'receivedAt'> & {
  readonly id: string;
  readonly webhookId: string;
  readonly signed: boolean;
};

export const loggedMax = 100;
/** How many of them may be events that are not signed: those of third parties must not displace those of the sender. */
const unsignedMax = 20;

/** Adds an event and deletes those that it displaces. */
export async function logWebhookEvent(db: Db, event: NewWebhookEvent): Promise<void> {
  const { id, webhookId, signed, status, eventId, runId, code, message } = event;
  await sql`
    with numbered as (
      select id, signed, row_number() over (order by id desc) as place,
        row_number() over (partition by signed order by id desc) as place_of_kind
      from webhook_log where webhook_id = ${webhookId}),
    displaced as (
      delete from webhook_log where id in (
        select l.id from webhook_log l join numbered n on n.id = l.id
        where n.place >= ${loggedMax} or (not n.signed and not ${signed} and n.place_of_kind >= ${unsignedMax})
        for update of l skip locked))
    insert into webhook_log (id, webhook_id, signed, status, event_id, run_id, code, message)
    values (${id}, ${webhookId}, ${signed}, ${status}, ${eventId}, ${runId}, ${code}, ${message})`.execute(
    db,
  );
}

/** Newest first. */
export async function readWebhookLog(db: Db, webhookId: string): Promise<WebhookLogRow[]> {
  const { rows } = await sql<WebhookLogRow>`
    select received_at, status, event_id, run_id, code, message from webhook_log
    where webhook_id = ${webhookId} order by id desc limit ${loggedMax}`.execute(db);
  return rows;
}
