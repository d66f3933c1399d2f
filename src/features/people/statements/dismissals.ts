import type { Notice } from '../../../core/people/notice.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Notices of the dashboard that a member has dismissed, each for good or until a time. */

export interface DismissalRow {
  readonly notice: Notice;
  readonly until: Date | null;
}

interface Of {
  readonly workspaceId: string;
  readonly userId: string;
}

/** Those that still hold. */
export async function listDismissals(db: Db, of: Of): Promise<DismissalRow[]> {
  const { rows } = await sql<DismissalRow>`
    select notice, until from dismissals
    where workspace_id = ${of.workspaceId} and user_id = ${of.userId}
      and (until is null or until > clock_timestamp())
    order by notice`.execute(db);
  return rows;
}

/** Replaces an earlier dismissal. Null days: for good. Null if the user is no member any more. */
export async function putDismissal(
  db: Db,
  of: Of,
  dismissal: { readonly notice: Notice; readonly days: number | null },
): Promise<DismissalRow | null> {
  const { notice, days } = dismissal;
  const { rows } = await sql<DismissalRow>`
    insert into dismissals (workspace_id, user_id, notice, until)
    select m.workspace_id, m.user_id, ${notice}, clock_timestamp() + ${days}::integer * interval '1 day'
    from members m where m.workspace_id = ${of.workspaceId} and m.user_id = ${of.userId}
    for key share
    on conflict (workspace_id, user_id, notice) do update set until = excluded.until
    returning notice, until`.execute(db);
  return rows[0] ?? null;
}
