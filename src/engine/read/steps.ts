import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { CallState } from '../../core/tools/call-state.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** A turn of the model, or a call of a tool in it. */
export interface ExecutionStep {
  readonly turn: number;
  readonly kind: 'model' | 'tool';
  readonly state: CallState;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly modelUsed: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUSD: string | null;
  readonly costKnown: boolean | null;
  readonly text: string | null;
  readonly toolCallId: string | null;
  readonly name: string | null;
  readonly toolServerId: string | null;
  readonly safe: boolean | null;
  readonly sent: number | null;
  /** JSON text, as the next one. */
  readonly arguments: string | null;
  readonly usedArguments: string | null;
  readonly result: string | null;
  readonly isError: true | null;
  readonly errorCode: ExecutionErrorCode | null;
}

/** Limits the texts of steps that are read at once, except for the first step. */
const textBytesMax = 8_388_608;

/** The steps of an execution in their order, with the contents of as many as fit, or of none. */
export async function listSteps(
  db: Db,
  executionId: string,
  withContents: boolean,
): Promise<ExecutionStep[]> {
  const fits = withContents
    ? sql`coalesce(sum(coalesce(octet_length(message::text), 0) + coalesce(octet_length(arguments::text), 0)
          + coalesce(octet_length(used_arguments::text), 0) + coalesce(octet_length(result), 0))
        over (order by n, part rows between unbounded preceding and 1 preceding), 0) < ${textBytesMax}`
    : sql`false`;
  const { rows } = await sql<ExecutionStep>`
    select n as turn, case when part = 0 then 'model' else 'tool' end as kind, state,
      case when part > 0 then dispatched_at
        else ended_at - coalesce(latency_ms, 0) * interval '1 millisecond' end as started_at,
      ended_at, model as model_used, input_tokens, output_tokens, cost_usd as "costUSD", cost_known,
      case when fits then message ->> 'text' end as text, tool_call_id, name, server_id as tool_server_id,
      case when part > 0 then safe end as safe, case when part > 0 then sent end as sent,
      case when fits then arguments end as arguments, case when fits then used_arguments end as used_arguments,
      case when fits then result end as result, case when is_error then true end as is_error, error_code
    from (
      select s.*, ${fits} as fits
      from execution_steps s where execution_id = ${executionId}) as sized
    order by n, part`.execute(db);
  return rows;
}
