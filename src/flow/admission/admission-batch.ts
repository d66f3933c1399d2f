import { createHash } from 'node:crypto';
import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import { variablesDigestInput } from '../../core/agent/variables.ts';
import type { Caller } from '../../core/execution/caller.ts';
import type {
  AgentAtAdmission,
  Decision,
  ExecuteCall,
  Facts,
  MonthCount,
  Refusal,
} from '../../core/execution/decide.ts';
import type { Counts, RateLimits } from '../../core/execution/limits.ts';
import type { QueuedExecution, Slots } from '../../core/execution/queued-execution.ts';
import { uuid7 } from '../../core/id.ts';
import type { AdmissionState } from '../../store/admission/admission-read.ts';
import type { AdmissionWrites, NewExecution } from '../../store/admission/admission-write.ts';
import {
  type AcceptedTerms,
  agentOfRow,
  apiKeyOf,
  callersAmong,
  from,
  once,
  stepOf,
  termsOf,
} from './admission-mapping.ts';
import { refusalRecorder } from './refusal-recorder.ts';

/**
 * The book of one admission batch: what was read; what the calls before this one have changed; and at the end
 * everything that is to be written.
 */

type Accepted = Extract<Decision, { kind: 'accepted' }>;

/** The first call under an idempotency key. */
export interface FirstCall {
  readonly digest: Buffer;
  readonly executionId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly ignoredVariables: readonly string[];
}

export interface AdmissionBatchDeps {
  readonly testingLimits: RateLimits;
  readonly slots: Slots | null;
  /** The lease under which runs may be born. */
  readonly worker: string | null;
}

export type AdmissionBatch = ReturnType<typeof admissionBatch>;

export function admissionBatch(state: AdmissionState, parts: AdmissionBatchDeps) {
  const { nowMs } = state;
  const callerAmong = callersAmong(state.keys, state.members);
  const agents = new Map(state.agents.map((row) => [row.id, agentOfRow(row)]));
  const slotsUsed = new Map(state.agents.map((row) => [row.id, row.slots_used ?? 0]));
  const months = new Map<string, MonthCount>();
  const tags = new Map<string, number>();
  for (const row of state.workspaces) {
    const { actions_per_month: actionsPerMonth, month, month_used: used } = row;
    months.set(row.id, { actionsPerMonth, month, used });
    // Virtual time runs with the clock while nothing waits, so a later backlog never gets an older tag.
    tags.set(row.id, Math.max(state.floor ?? clockTag(nowMs), row.last_tag ?? 0));
  }
  const firstCalls = new Map<string, FirstCall>(
    state.replays.map((row) => [
      `${row.caller} ${row.agent_id} ${row.key}`,
      {
        digest: row.digest,
        executionId: row.execution_id,
        agentId: row.agent_id,
        agentName: row.agent_name,
        ignoredVariables: row.ignored_variables,
      },
    ]),
  );
  let waiting = state.floor !== null;
  const readySteps = new Map(state.steps.map((step) => [stepName(step), step.fallback]));

  const counts = new Map<string, Counts>();
  const spentMonths = new Set<string>();
  const refusals = refusalRecorder(state);
  const born: QueuedExecution[] = [];
  const acceptedTerms = new Map<string, AcceptedTerms>();
  const executions: NewExecution[] = [];
  const idempotency: AdmissionWrites['idempotency'][number][] = [];
  const tallies: AdmissionWrites['tallies'][number][] = [];

  return {
    callerOf(credential: ExecuteCall['credential']): Caller | null {
      return credential.kind === 'workflow' ? credential.caller : callerAmong(credential);
    },

    /** Whether a step may be called: others may have taken it, and its run may have ended. */
    mayCall({ credential }: ExecuteCall): boolean {
      if (credential.kind !== 'workflow') return true;
      // Whoever was held up may come with the call of a step whose fallback has taken over since.
      return readySteps.get(stepName(credential.step)) === credential.fallback;
    },

    agentOf(agentId: string | null, caller: Caller): AgentAtAdmission | null {
      const agent = agentId === null ? undefined : agents.get(agentId);
      return agent && agent.workspaceId === caller.workspaceId ? agent : null;
    },

    firstCallOf(call: ExecuteCall, caller: Caller): FirstCall | null {
      if (call.idempotencyKey === null || call.agentId === null) return null;
      return firstCalls.get(`${caller.id} ${call.agentId} ${call.idempotencyKey}`) ?? null;
    },

    facts(
      call: ExecuteCall,
      caller: Caller,
      agent: AgentAtAdmission | null,
      firstCall: FirstCall | null,
    ): Facts {
      const callerCounts = caller.kind === 'key' ? (state.counts.get(caller.id) ?? null) : null;
      const agentCounts = agent ? (state.counts.get(agent.id) ?? null) : null;
      // Written whether or not this call spends them: cheaper to write a row unchanged than to track it.
      if (callerCounts) counts.set(caller.id, callerCounts);
      if (agent && agentCounts) counts.set(agent.id, agentCounts);
      return {
        nowMs,
        caller,
        callerCounts,
        agent,
        agentCounts,
        month: months.get(caller.workspaceId) ?? { actionsPerMonth: 0, month: 0, used: 0 },
        testingLimits: parts.testingLimits,
        body: call.body,
        idempotencyComplaint: call.idempotencyComplaint,
        replay: firstCall && { sameBody: () => firstCall.digest.equals(digestOf(call)) },
      };
    },

    accept(
      call: ExecuteCall,
      caller: Caller,
      { agent, variables, ignoredVariables }: Accepted,
    ): string {
      const id = uuid7(nowMs);
      const { workspaceId } = caller;
      const apiKeyId = apiKeyOf(call, caller);
      const step = stepOf(call);
      if (step) readySteps.delete(stepName(step));
      // A workflow calls for whoever started the run, with the key that it was started with.
      const whose = `${caller.id} ${caller.userId} ${apiKeyId} ${agent.id}`;
      const terms = once(acceptedTerms, whose, () => termsOf(caller, agent, apiKeyId));
      spentMonths.add(workspaceId);

      const hasSlot = takeSlot(agent, terms.settings.maxConcurrency);
      const worker = hasSlot === false ? null : birthplace(workspaceId);
      const run = { tag: nextTag(workspaceId), born: worker !== null, hasSlot };
      executions.push({ id, terms, ...from(call), inputVariables: variables.json, run, step });
      const { agentId, source, promptVersionId, model, temperature, settings } = terms;
      if (worker !== null) {
        born.push({
          id,
          workspaceId,
          agentId,
          worker,
          attempt: 1,
          failures: 0,
          losses: 0,
          called: false,
          source,
          promptVersionId,
          model,
          apiKeyId,
          temperature,
          setup: agent.setup,
          inputVariables: variables.json,
          settings: step ? { ...settings, workflow: step } : settings,
          elapsedMs: 0,
        });
      }
      if (call.idempotencyKey !== null) {
        const firstCall = {
          digest: digestOf(call),
          executionId: id,
          agentId,
          agentName: agent.name,
          ignoredVariables,
        };
        firstCalls.set(`${caller.id} ${agentId} ${call.idempotencyKey}`, firstCall);
        const kept = { caller: caller.id, key: call.idempotencyKey, createdAtMs: nowMs };
        idempotency.push({ ...firstCall, ...kept });
      }
      return id;
    },

    refuse(call: ExecuteCall, caller: Caller, agent: AgentAtAdmission, refusal: Refusal): void {
      const noted = refusals.note(call, caller, agent, refusal);
      if (noted?.execution) executions.push(noted.execution);
      if (noted) tallies.push(noted.tally);
    },

    /** The runs that start here once all is written. */
    born,

    /** Everything that is to be written. */
    writes(): AdmissionWrites {
      const spent = [...spentMonths].map((workspaceId) => {
        const { month, used } = months.get(workspaceId) ?? { month: 0, used: 0 };
        return { workspaceId, month, used };
      });
      return {
        counts,
        months: spent,
        executedAtMs: nowMs,
        worker: parts.worker,
        executions,
        idempotency,
        refusals: refusals.counted(),
        tallies,
      };
    },
  };

  /** Null where the agent has no cap. */
  function takeSlot(agent: AgentAtAdmission, maxConcurrency: number | null): boolean | null {
    if (maxConcurrency === null) return null;
    const used = slotsUsed.get(agent.id) ?? 0;
    if (used >= maxConcurrency) return false;
    slotsUsed.set(agent.id, used + 1);
    return true;
  }

  /** The process that a run is born claimed by: this one, where it has a slot and nothing older waits. */
  function birthplace(workspaceId: string): string | null {
    const here = !waiting && state.workerHasLease && parts.slots?.reserve(workspaceId);
    if (here) return parts.worker;
    waiting = true;
    return null;
  }

  function nextTag(workspaceId: string): number {
    const tag = (tags.get(workspaceId) ?? 0) + 1;
    tags.set(workspaceId, tag);
    return tag;
  }
}

/** The virtual time of the clock: microseconds. */
export function clockTag(nowMs: number): number {
  return nowMs * 1_000;
}

function stepName({ runId, step, item }: WorkflowStepOf): string {
  return `${runId} ${step} ${item}`;
}

/** A body that has no variables is compared as such: it can only be the same as another broken one. */
function digestOf({ body }: ExecuteCall): Buffer {
  const text = body.kind === 'variables' ? variablesDigestInput(body.variables) : body.kind;
  return createHash('sha256').update(text).digest();
}
