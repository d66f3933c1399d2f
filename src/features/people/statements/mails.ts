import { type Mail, mailsPerDayMax } from '../../../core/people/mail.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/**
 * E-mail that is queued in the transaction of the change that it reports.
 *
 * States: due (`due_at` has passed), claimed (`due_at` is in the future), deleted (the mail server accepted it, or the last
 * attempt failed). A claim needs no lease: the mail is due again some minutes later, each time later.
 *
 * Failure cases: a sender that dies after the mail server accepted a mail sends it again, so delivery is at least once. While
 * the mail server is unavailable, a mail waits for its attempts and is lost after the last one.
 */

/** The addresses of the owners of a workspace, and its name. */
export async function readOwners(
  db: Db,
  workspaceId: string,
): Promise<{ readonly workspaceName: string; readonly emails: readonly string[] }> {
  const { rows } = await sql<{ workspaceName: string; email: string }>`
    select w.name as workspace_name, u.email from members m
    join users u on u.id = m.user_id join workspaces w on w.id = m.workspace_id
    where m.workspace_id = ${workspaceId} and m.role = 'owner' order by u.email`.execute(db);
  return {
    workspaceName: rows[0]?.workspaceName ?? '',
    emails: rows.map(({ email }) => email),
  };
}

/**
 * Takes up to `wanted` of the mails that the workspace may still send today (UTC). Returns how many; exact across processes,
 * because the row stays locked until the commit. A count of a later day stays, whatever the clock does.
 */
export async function takeMails(trx: Trx, workspaceId: string, wanted: number): Promise<number> {
  const { rows } = await sql<{ sent: number }>`
    insert into mail_counts as c (workspace_id, day, sent)
    values (${workspaceId}, (clock_timestamp() at time zone 'UTC')::date, 0)
    on conflict (workspace_id) do update set day = greatest(c.day, excluded.day),
      sent = case when c.day < excluded.day then 0 else c.sent end
    returning sent`.execute(trx);
  const allowed = Math.max(0, Math.min(wanted, mailsPerDayMax - (rows[0]?.sent ?? 0)));
  if (allowed > 0) {
    await sql`update mail_counts set sent = sent + ${allowed} where workspace_id = ${workspaceId}`.execute(
      trx,
    );
  }
  return allowed;
}

export async function queueMails(trx: Trx, mails: readonly Mail[]): Promise<void> {
  await sql`
    insert into mails (recipient, subject, body)
    select * from unnest(${mails.map(({ to }) => to)}::text[], ${mails.map(({ subject }) => subject)}::text[],
      ${mails.map(({ text }) => text)}::text[])`.execute(trx);
}

export interface QueuedMail extends Mail {
  readonly id: string;
  /** Attempts so far, with this one. */
  readonly attemptCount: number;
}

const attemptsMax = 5;
const retryMinutes = 5;

/** Claims due mails, so that no other process sends them meanwhile. */
export async function claimMails(db: Db, limit: number): Promise<QueuedMail[]> {
  const { rows } = await sql<QueuedMail>`
    update mails m set tries = m.tries + 1, due_at = clock_timestamp() + m.tries * make_interval(mins => ${retryMinutes})
      + make_interval(mins => ${retryMinutes})
    from (
      select id from mails where due_at <= ${statementTime} order by due_at limit ${limit} for update skip locked) as due
    where m.id = due.id
    returning m.id, m.recipient as to, m.subject, m.body as text, m.tries as attempt_count`.execute(
    db,
  );
  return rows;
}

export async function deleteMail(db: Db, id: string): Promise<void> {
  await sql`delete from mails where id = ${id}`.execute(db);
}

export function isLastAttempt({ attemptCount }: QueuedMail): boolean {
  return attemptCount >= attemptsMax;
}
