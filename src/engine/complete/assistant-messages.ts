import { toolLoopDays } from '../../core/agent/provider-message.ts';
import { statementTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import { aboveFloor, idBounds } from '../../db/id-bounds.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import type { EarlierMessages, FoundMessage } from './provided-messages.ts';

/**
 * Answers with calls of tools as their providers sent them, found by the digest of the conversation that ends with them. The message
 * is a body of its record and goes with it. The table beside it has digests, and executions that may be gone.
 */

interface KeptMessage {
  readonly executionId: string;
  readonly digest: string;
  readonly chars: number;
}

const kept = rowSet<KeptMessage>('k', {
  execution_id: ['uuid', (one) => one.executionId],
  digest: ['uuid', (one) => one.digest],
  chars: ['int', (one) => one.chars],
});

/** In the transaction that inserts the record. */
export const insertKeptMessages = statement<readonly KeptMessage[]>('completion-insert-tool-calls')`
  insert into tool_call_executions (execution_id, digest, chars)
  select k.execution_id, k.digest, k.chars from ${kept.table}`;

export function earlierMessages(db: Db): EarlierMessages {
  return {
    find: (executionId, digests) => findMessages(db, executionId, digests),
    read: (executionIds) => readMessages(db, executionIds),
  };
}

/** For a live execution: those of its agent, and of others of its workspace that the same user called. */
async function findMessages(
  db: Db,
  executionId: string,
  digests: readonly string[],
): Promise<FoundMessage[]> {
  const { rows } = await sql<FoundMessage>`
    select replace(d.digest::text, '-', '') as digest, found.execution_id as "executionId", found.chars
    from execution_queue q
      cross join unnest(${digests}::uuid[]) as d (digest)
      cross join lateral (
        select c.execution_id, c.chars
        from (select t.execution_id, t.chars from tool_call_executions t
            where t.digest = d.digest order by t.execution_id desc limit ${candidatesMax}) as c
          cross join lateral (
            select from executions e
            where e.id = c.execution_id and ${aboveFloor} and e.workspace_id = q.workspace_id
              and (e.agent_id = q.agent_id or e.executed_by = q.executed_by)
              and e.assistant_message is not null offset 0) as e
        order by c.execution_id desc limit 1) as found
    where q.id = ${executionId}`.execute(db);
  return rows;
}

/** Equal conversations, such as those of a load test, of which one is as good as another. */
const candidatesMax = 20;

async function readMessages(
  db: Db,
  executionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [lowest, highest] = idBounds(executionIds);
  const { rows } = await sql<{ id: string; message: string }>`
    select e.id, e.assistant_message::text as message from executions e
    where e.id = any(${executionIds}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
      and ${aboveFloor} and e.assistant_message is not null`.execute(db);
  return new Map(rows.map(({ id, message }) => [id, message]));
}

/** Deletes up to `limit` rows that are too old to be looked for. Returns how many. */
export async function deleteOldToolCalls(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from tool_call_executions where execution_id in (
      select execution_id from tool_call_executions
      where execution_id < id_floor(${statementTime} - ${toolLoopDays} * interval '24 hours')
      order by execution_id limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}
