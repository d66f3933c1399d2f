import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import type { Sent } from './load.ts';

/**
 * Compares the responses during database failures with the stored records. Names of calls must be unique, and models
 * must respond, so that every stored execution succeeds.
 */

export async function checkAnswers(db: Db, sent: readonly Sent[]): Promise<string[]> {
  const { rows } = await sql<{ name: string; ids: string[] }>`
    select input_variables ->> 'name' as name, array_agg(id::text) as ids
    from all_executions where input_variables is not null group by 1`.execute(db);
  const { rows: failed } = await sql`
    select id, status, error_code, error from executions where status <> 'success'`.execute(db);
  const stored = new Map(rows.map(({ name, ids }) => [name, ids]));
  const violations = sent.flatMap((call) => {
    const violation = violationOf(call, stored.get(call.name) ?? []);
    return violation === null ? [] : `${violation}: ${JSON.stringify(call)}`;
  });
  return [
    ...violations,
    ...failed.map((row) => `an execution did not succeed: ${JSON.stringify(row)}`),
  ];
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

function violationOf({ outcome, tries }: Sent, ids: readonly string[]): string | null {
  if (outcome.kind === 'broken') return 'a call without a response';
  if (outcome.kind === 'accepted') {
    if (ids.length === 0) return 'an accepted call without a record';
    return ids.length === 1 && ids[0] === outcome.executionId ? null : 'more than one record';
  }
  if (outcome.status !== 503) return 'neither 202 nor 503';
  if (outcome.retryAfter === null) return 'a 503 without Retry-After';
  if (ids.length > 1) return 'more than one record';
  // With another code or after retries, an unacknowledged try may have been committed.
  if (outcome.code === 'UNAVAILABLE' && tries === 1 && ids.length > 0) {
    return 'a refused call with a record';
  }
  return null;
}
