import { earlierMessagesCharsMax, toolLoopDays } from '../../core/agent/provider-message.ts';
import { statementTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

/**
 * Answers with calls of tools as their providers sent them, found by the ids of these calls. The message is a body of its record
 * and goes with it. The table beside it has hashes of ids, and executions that may be gone.
 */

interface CallOf {
  readonly executionId: string;
  readonly callId: string;
}

const calls = rowSet<CallOf>('c', {
  execution_id: ['uuid', (one) => one.executionId],
  call_id: ['text', (one) => one.callId],
});

/** In the transaction that inserts the record. */
export const insertToolCalls = statement<readonly CallOf[]>('completion-insert-tool-calls')`
  insert into tool_call_executions (call, execution_id)
  select hashtextextended(c.call_id, 0), c.execution_id from ${calls.table}
  on conflict do nothing`;

/** A stored message, and the calls that its execution had. */
export interface StoredMessage {
  /** A `ProviderMessage` as JSON. */
  readonly message: string;
  /** `ToolCall[]` as JSON. */
  readonly toolCalls: string;
}

/**
 * The messages with any of these calls, newest first, for a live execution: of its agent, or of another one of its workspace that
 * the same user called. An id alone proves nothing, because some servers give every call the same: compare the calls.
 */
export async function findAssistantMessages(
  db: Db,
  executionId: string,
  callIds: readonly string[],
): Promise<StoredMessage[]> {
  const { rows } = await sql<StoredMessage>`
    select message, tool_calls from (
      select e.assistant_message::text as message, e.tool_calls::text as tool_calls, e.id,
        sum(octet_length(e.assistant_message::text)) over (order by e.id desc) as size
      from execution_queue q
        cross join lateral (
          select distinct c.execution_id from tool_call_executions c
          where c.call = any(array(select hashtextextended(id, 0) from unnest(${callIds}::text[]) as id))
          order by c.execution_id desc limit ${messagesMax}) as c
        cross join lateral (
          select e.id, e.workspace_id, e.agent_id, e.executed_by, e.assistant_message, e.tool_calls
          from executions e where e.id = c.execution_id offset 0) as e
      where q.id = ${executionId} and e.workspace_id = q.workspace_id
        and (e.agent_id = q.agent_id or e.executed_by = q.executed_by)
        and e.assistant_message is not null and e.tool_calls is not null) as found
    where size <= ${earlierMessagesCharsMax}
    order by id desc`.execute(db);
  return rows;
}

/** Turns of one conversation, and others whose calls have the same ids. */
const messagesMax = 1_000;

/** Deletes up to `limit` rows that are too old to be looked for. Returns how many. */
export async function deleteOldToolCalls(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from tool_call_executions where (execution_id, call) in (
      select execution_id, call from tool_call_executions
      where execution_id < id_floor(${statementTime} - ${toolLoopDays} * interval '24 hours')
      order by execution_id limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}
