import { sql } from 'kysely';
import type { Db } from '../src/store/connection/database.ts';
import type { Sent } from './load.ts';

/**
 * Compares what clients were told while the database failed with what it has stored. Names of calls must be unique, and
 * models must answer, so that every stored execution succeeds.
 */

export async function checkAnswers(db: Db, sent: readonly Sent[]): Promise<string[]> {
  const { rows } = await sql<{ name: string; ids: string[] }>`
    select input_variables ->> 'name' as name, array_agg(id::text) as ids
    from executions where input_variables is not null group by 1`.execute(db);
  const { rows: failed } = await sql`
    select id, status, error_code, error from executions where status <> 'success'`.execute(db);
  const kept = new Map(rows.map(({ name, ids }) => [name, ids]));
  const complaints = sent.flatMap((call) => {
    const complaint = complaintOf(call, kept.get(call.name) ?? []);
    return complaint === null ? [] : `${complaint}: ${JSON.stringify(call)}`;
  });
  return [...complaints, ...failed.map((row) => `a run did not succeed: ${JSON.stringify(row)}`)];
}

/** The number of responses of each kind. */
export function countAnswers(sent: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, tries } of sent) {
    const kind = outcome.kind === 'refused' ? outcome.code : outcome.kind;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (outcome.kind === 'accepted' && tries > 1) {
      counts['accepted after retries'] = (counts['accepted after retries'] ?? 0) + 1;
    }
  }
  return counts;
}

function complaintOf({ outcome, tries }: Sent, ids: readonly string[]): string | null {
  if (outcome.kind === 'broken') return 'a call that was not answered';
  if (outcome.kind === 'accepted') {
    if (ids.length === 0) return 'accepted, and not kept';
    return ids.length === 1 && ids[0] === outcome.executionId ? null : 'kept twice';
  }
  if (outcome.status !== 503) return 'answered neither 202 nor 503';
  if (outcome.retryAfter === null) return 'a 503 without Retry-After';
  if (ids.length > 1) return 'kept twice';
  // Only these calls may have been accepted without a 202; an earlier try may have ended like this.
  if (outcome.code === 'UNAVAILABLE' && tries === 1 && ids.length > 0) return 'refused, and kept';
  return null;
}
