import { hashBytes } from '../../core/people/key.ts';
import { arrayLiteral } from '../../db/array-literal.ts';
import { statementTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { type Statement, statement } from '../../db/statement.ts';

/**
 * The first calls with an Idempotency-Key, of agents and of workflows. The `target` is the agent or workflow, the `result` the
 * execution or workflow run that the call started.
 *
 * Invariants
 * - A key is unique for its caller and target. The lock of the caller's limits makes concurrent calls wait for each other.
 * - A row counts for 24 hours, and until its result has ended.
 */

/** The caller of a first call: a key by its hash, or another caller by its id. */
export interface CallerLookup {
  readonly hash: string | null;
  readonly caller: string | null;
}

export type FirstCallLookup = CallerLookup & { readonly target: string; readonly key: string };

export interface FirstCallRow {
  readonly caller: string;
  readonly target: string;
  readonly key: string;
  readonly digest: Buffer;
  readonly result: string;
  readonly targetName: string;
  /** Names in the body that the target does not declare. */
  readonly ignored: readonly string[];
}

export interface NewFirstCall extends FirstCallRow {
  readonly createdAtMs: number;
}

/** SQL: the result of first call `i` has not ended. */
const isLive = sql`(exists (select from execution_queue q where q.id = i.result)
  or exists (select from workflow_runs r where r.id = i.result and r.completed_at is null))`;

const lookups = rowSet<FirstCallLookup>('lookup', {
  hash: ['bytea', ({ hash }) => hash && hashBytes(hash)],
  caller: ['uuid', (one) => one.caller],
  target: ['uuid', (one) => one.target],
  key: ['text', (one) => one.key],
});

/** A statement that reads those of these calls that were made before, `i`, with further columns. */
export function firstCallsWith<Row extends FirstCallRow>(
  name: string,
  columns: Sql,
  joins = sql``,
): Statement<readonly FirstCallLookup[], Row> {
  return statement<readonly FirstCallLookup[], Row>(name)`
    select i.caller, i.target, i.key, i.digest, i.result, i.target_name, i.ignored, ${columns}
    from ${lookups.table}
    cross join lateral (
      select * from idempotency i
      where i.caller = coalesce(lookup.caller, (select id from api_keys where hash = lookup.hash))
        and i.target = lookup.target and i.key = lookup.key offset 0) as i
    ${joins}
    where i.created_at > clock_timestamp() - interval '24 hours' or ${isLive}`;
}

export async function insertFirstCalls(send: Send, calls: readonly NewFirstCall[]): Promise<void> {
  if (calls.length > 0) await send(insertRows, calls);
}

const newCalls = rowSet<NewFirstCall>('n', {
  caller: ['uuid', (one) => one.caller],
  target: ['uuid', (one) => one.target],
  target_name: ['text', (one) => one.targetName],
  key: ['text', (one) => one.key],
  digest: ['bytea', (one) => one.digest],
  result: ['uuid', (one) => one.result],
  ignored: ['text', (one) => arrayLiteral(one.ignored)],
  created_at: ['timestamptz', (one) => new Date(one.createdAtMs).toISOString()],
});

// Overwrites expired rows. The lock of the limits guarantees that there is no unexpired row.
const insertRows = statement<readonly NewFirstCall[]>('idempotency-insert')`
  insert into idempotency as i (caller, target, target_name, key, digest, result, ignored, created_at)
  select caller, target, target_name, key, digest, result, ignored::text[], created_at
  from ${newCalls.table}
  on conflict (caller, target, key) do update set target_name = excluded.target_name, digest = excluded.digest,
    result = excluded.result, ignored = excluded.ignored, created_at = excluded.created_at`;

/** Deletes up to `limit` keys after 24 hours, or later if their result has not ended. Returns how many. */
export async function deleteExpiredIdempotencyKeys(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from idempotency where (caller, target, key) in (
      select caller, target, key from idempotency i
      where created_at < ${statementTime} - interval '24 hours' and not ${isLive}
      order by created_at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Deletes the keys of those of these executions and workflow runs that have ended. */
export async function deleteIdempotencyOf(db: Db, results: readonly string[]): Promise<void> {
  await sql`
    delete from idempotency i where i.result = any(${results}::uuid[]) and not ${isLive}`.execute(
    db,
  );
}
