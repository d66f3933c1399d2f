import type { Caller } from '../../core/execution/caller.ts';
import type { AgentAtAdmission, ExecuteCall, Refusal } from '../../core/execution/decide.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7 } from '../../core/id.ts';
import type { AdmissionState } from '../../store/admission/admission-read.ts';
import type {
  ExecutionTerms,
  NewExecution,
  NewRefusal,
} from '../../store/admission/admission-write.ts';
import { apiKeyOf, from, once, stepOf, termsOf } from './admission-mapping.ts';

/** The refusals of one admission batch: which of them become records, and that all of them are counted. */

/** Refusals that become records for each caller, agent, status and hour; the rest are only counted. */
const refusalRecordsMax = 60;
const hourMs = 3_600_000;

export function refusalRecorder({ nowMs, refusals }: AdmissionState) {
  const recorded = new Map(
    refusals.map((row) => [`${row.caller} ${row.agent_id} ${row.status}`, row]),
  );
  const terms = new Map<string, ExecutionTerms>();
  const counted = new Map<string, NewRefusal>();
  return {
    /** Null for what leaves no trace: a step that a limit holds up waits, and is no refusal. */
    note(
      call: ExecuteCall,
      caller: Caller,
      agent: AgentAtAdmission,
      { record, message }: Refusal,
    ): { readonly execution: NewExecution | null; readonly tally: Tally } | null {
      if (!record) return null;
      const { status, errorCode } = record;
      if (caller.kind === 'workflow' && errorCode === 'RATE_LIMIT_EXCEEDED') return null;
      const name = `${caller.id} ${agent.id} ${status}`;
      const before = recorded.get(name);
      // Like every window, the hour never moves backwards.
      const hour = Math.max(Math.floor(nowMs / hourMs), before?.hour ?? 0);
      const count = before?.hour === hour ? before.recorded : 0;
      const kept = count < refusalRecordsMax;
      const apiKeyId = apiKeyOf(call, caller);
      const own = once(terms, `${name} ${caller.userId} ${apiKeyId} ${message}`, () => {
        const refusal = { status, errorCode, error: message, settings: null };
        return { ...termsOf(caller, agent, apiKeyId), ...refusal };
      });
      if (kept) {
        const row = { caller: caller.id, status, hour, recorded: count + 1 };
        counted.set(name, { ...row, agentId: agent.id });
        recorded.set(name, { ...row, agent_id: agent.id });
      }
      const rest = { inputVariables: null, run: null, step: stepOf(call) };
      return {
        execution: kept ? { id: uuid7(nowMs), terms: own, ...from(call), ...rest } : null,
        tally: {
          agentId: agent.id,
          executedAtMs: nowMs,
          status,
          source: own.source,
          promptVersionId: own.promptVersionId,
          model: own.model,
          apiKeyId: own.apiKeyId,
          errorCode,
          recorded: kept,
          inputTokens: 0,
          outputTokens: 0,
          costUsd: '0',
          costKnown: true,
          latencyMs: null,
        },
      };
    },

    /** How many stand as records by now. */
    counted: (): NewRefusal[] => [...counted.values()],
  };
}
