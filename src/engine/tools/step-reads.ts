import type { ProviderMessage } from '../../core/agent/provider-message.ts';
import type { Call } from '../../core/tools/call-state.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** What an execution goes on from: its finished turns with calls of tools. */
export interface StepReads {
  /** The characters of its steps, so that they are read once there is room for them. */
  chars(executionId: string): Promise<number>;
  turns(executionId: string): Promise<StoredTurn[]>;
}

export interface StoredTurn {
  readonly message: TurnMessage;
  readonly calls: readonly Call[];
}

/** The message of a turn beside its calls. */
export interface TurnMessage {
  readonly text: string;
  readonly provided?: ProviderMessage;
}

export function createStepReads(db: Db): StepReads {
  return {
    chars: (executionId) => readChars(db, executionId),
    turns: (executionId) => readTurns(db, executionId),
  };
}

async function readChars(db: Db, executionId: string): Promise<number> {
  const { rows } = await sql<{ chars: number }>`
    select coalesce(sum(coalesce(octet_length(message::text), 0) + coalesce(octet_length(arguments::text), 0)
      + coalesce(octet_length(result), 0)), 0)::int as chars
    from execution_steps where execution_id = ${executionId}`.execute(db);
  return rows[0]?.chars ?? 0;
}

interface StepRow extends Omit<Call, 'arguments' | 'server'> {
  readonly n: number;
  readonly serverId: string | null;
  readonly message: string | null;
  readonly arguments: string | null;
}

async function readTurns(db: Db, executionId: string): Promise<StoredTurn[]> {
  const { rows } = await sql<StepRow>`
    select n, part, state, sent, safe, is_error, error_code, tool_call_id, call_id, name, server_id, message,
      arguments, result
    from execution_steps where execution_id = ${executionId} order by n, part`.execute(db);
  const turns: { message: TurnMessage; calls: Call[] }[] = [];
  for (const { n: _, message, arguments: given, serverId: server, ...call } of rows) {
    if (call.part === 0) turns.push({ message: JSON.parse(message ?? '{"text":""}'), calls: [] });
    else turns.at(-1)?.calls.push({ ...call, server, arguments: JSON.parse(given ?? 'null') });
  }
  return turns;
}
