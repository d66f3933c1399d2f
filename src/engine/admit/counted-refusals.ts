import type { Refusal } from '../../core/execution/check-call.ts';
import type { AgentAtAdmission, ExecuteCall } from '../../core/execution/decide.ts';
import { ownMessage } from '../../core/execution/own-message.ts';
import type { CallFailureCode } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

/**
 * Counts the refusals that leave no record, and those of keys that may not call: of each key, agent, code and day one row. A
 * refusing admission writes them with everything else. It holds the limits of the key, so nobody else changes its rows.
 */

export interface CountedRefusals {
  readonly agentId: string;
  readonly apiKeyId: string;
  readonly code: CallFailureCode;
  readonly refused: number;
  readonly lastMessage: string;
}

/** The refusals of one admission batch. */
export function refusalCounter() {
  const rows = new Map<string, CountedRefusals>();
  return {
    /** Counts a refused call of a key. A line of a batch keeps its own reason. */
    count(call: ExecuteCall, caller: Caller, agent: AgentAtAdmission, refusal: Refusal): void {
      const { code, record } = refusal;
      const isCounted = record === null || code === 'UNAUTHORIZED';
      if (!isCounted || caller.kind !== 'key' || call.batchLine) return;
      const key = `${caller.id} ${agent.id} ${code}`;
      const refused = (rows.get(key)?.refused ?? 0) + 1;
      const { requiredVariables, optionalVariables, defaults } = agent;
      const declared = [...requiredVariables, ...optionalVariables, ...Object.keys(defaults)];
      const lastMessage = ownMessage(refusal, declared);
      rows.set(key, { agentId: agent.id, apiKeyId: caller.id, code, refused, lastMessage });
    },

    counted: (): CountedRefusals[] => [...rows.values()],
  };
}

interface RefusalsAt {
  readonly refusals: readonly CountedRefusals[];
  readonly atMs: number;
}

const counted = rowSet<CountedRefusals, RefusalsAt>(
  'c',
  {
    agent_id: ['uuid', (row) => row.agentId],
    api_key_id: ['uuid', (row) => row.apiKeyId],
    code: ['text', (row) => row.code],
    refused: ['bigint', (row) => row.refused],
    last_message: ['text', (row) => row.lastMessage],
  },
  { read: ({ refusals }) => refusals },
);

const at = sql`${({ atMs }: RefusalsAt) => new Date(atMs).toISOString()}::timestamptz`;

export const addRefusals = statement<RefusalsAt>('admission-add-refusals')`
  insert into refusal_counts as r (agent_id, api_key_id, code, day, refused, last_message, last_at)
  select agent_id, api_key_id, code, (${at} at time zone 'UTC')::date, refused, last_message, ${at}
  from ${counted.table}
  on conflict (agent_id, api_key_id, code, day) do update set refused = r.refused + excluded.refused,
    last_message = excluded.last_message, last_at = greatest(r.last_at, excluded.last_at)`;
