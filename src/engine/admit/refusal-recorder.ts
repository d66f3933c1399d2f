import type { Refusal } from '../../core/execution/check-call.ts';
import type { AgentAtAdmission, ExecuteCall } from '../../core/execution/decide.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7 } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { RefusalTerms, RefusedExecution } from '../complete/completion.ts';
import { admittedOf, apiKeyOf, getOrCreate, sourceOfCall, termsOf } from './admission-mapping.ts';
import type { AdmissionState } from './admission-read.ts';
import type { RefusalCount } from './admission-write.ts';

/** Refusals that become records, for each caller, agent, status and hour. The rest are only counted. */
const refusalRecordsMax = 60;
const hourMs = 3_600_000;

interface RecordedRefusal {
  /** Null if this refusal is only counted. */
  readonly execution: RefusedExecution | null;
  readonly tally: Tally;
}

/** The refusals of one admission batch: all are counted in the statistics, the first of each hour become records. */
export function refusalRecorder({ nowMs, refusals }: AdmissionState) {
  const recorded = new Map(
    refusals.map((row) => [`${row.caller} ${row.agentId} ${row.status}`, row]),
  );
  const terms = new Map<string, RefusalTerms>();
  const counted = new Map<string, RefusalCount>();
  return {
    /** Null for a refusal without a trace: a workflow step that reached a rate limit, or waits for other calls of its budget, is not refused. */
    record(
      call: ExecuteCall,
      caller: Caller,
      agent: AgentAtAdmission,
      { record, message, budget }: Refusal,
    ): RecordedRefusal | null {
      if (!record) return null;
      const { status, errorCode } = record;
      const waits = budget ? !budget.isSpent : errorCode === 'RATE_LIMIT_EXCEEDED';
      if (caller.kind === 'workflow' && waits) return null;
      const key = `${caller.id} ${agent.id} ${status}`;
      const previous = recorded.get(key);
      // Like every window, the hour never moves backwards.
      const hour = Math.max(Math.floor(nowMs / hourMs), previous?.hour ?? 0);
      const count = previous?.hour === hour ? previous.recorded : 0;
      const isRecorded = count < refusalRecordsMax;
      const apiKeyId = apiKeyOf(call, caller);
      const source = sourceOfCall(call, caller);
      const refusalTerms = getOrCreate(
        terms,
        `${key} ${agent.versionId} ${caller.userId} ${apiKeyId} ${source} ${message}`,
        () => {
          const { settings: _, ...shared } = termsOf(caller, agent, { apiKeyId, source });
          return { ...shared, status, errorCode, error: message };
        },
      );
      if (isRecorded) {
        const row = { caller: caller.id, agentId: agent.id, status, hour, recorded: count + 1 };
        counted.set(key, row);
        recorded.set(key, row);
      }
      const admitted = { ...admittedOf(call), background: null };
      const { labels } = admitted;
      const execution = { ...admitted, id: uuid7(nowMs), terms: refusalTerms };
      return {
        execution: isRecorded ? execution : null,
        tally: refusalTally(refusalTerms, { nowMs, status, errorCode, labels, isRecorded }),
      };
    },

    /** How many records each caller has in the current hour. */
    counted: (): RefusalCount[] => [...counted.values()],
  };
}

function refusalTally(
  { agentId, source, promptVersionId, model, apiKeyId }: RefusalTerms,
  {
    nowMs,
    isRecorded,
    ...outcome
  }: Pick<Tally, 'status' | 'errorCode' | 'labels'> & {
    readonly nowMs: number;
    readonly isRecorded: boolean;
  },
): Tally {
  return {
    ...{ agentId, source, promptVersionId, model, apiKeyId, ...outcome },
    executedAtMs: nowMs,
    recorded: isRecorded,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: '0',
    costKnown: true,
    latencyMs: null,
  };
}
