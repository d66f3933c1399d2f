import type { Counts } from '../../../core/agent/limits.ts';
import { rememberCounts } from '../../../core/execution/decide.ts';
import { uuid7 } from '../../../core/id.ts';
import { labelsJson } from '../../../core/labels.ts';
import { type Caller, workflowCaller } from '../../../core/people/caller.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { isSameBody } from '../../../engine/admit/admission-batch.ts';
import {
  callerResolver,
  idempotencyId,
  keyWindowsOf,
  unknownCaller,
} from '../../../engine/admit/admission-mapping.ts';
import { decideStart, type StartDecision } from '../rules/decide-start.ts';
import type {
  FirstWorkflowRun,
  NewWorkflowRun,
  StartState,
  StartWrites,
  WorkflowRow,
} from '../statements/workflow-start.ts';
import type { Rerun } from './rerun-items.ts';
import type { StartCall, Started } from './start-call.ts';

type Accepted = Extract<StartDecision, { kind: 'accepted' }>;

/** A start that comes back once its body is parsed and hashed. */
export interface UnpreparedStart {
  readonly kind: 'unprepared';
  readonly workspaceId: string;
}

/** The starts of one transaction, in memory, like `AdmissionBatch`: each call sees what earlier ones changed. */
export class WorkflowStarts {
  readonly #state: StartState;
  readonly #definition: (versionId: string) => Promise<WorkflowDefinition>;
  readonly #resolveCaller: ReturnType<typeof callerResolver>;
  readonly #workflows: ReadonlyMap<string, WorkflowRow>;
  readonly #firstWorkflowRuns: Map<string, FirstWorkflowRun>;
  readonly #counts = new Map<string, Counts>();
  readonly #newFirstCalls: StartWrites['firstCalls'][number][] = [];
  readonly runs: NewWorkflowRun[] = [];
  /** Of those that run items again. */
  readonly reruns = new Map<string, Rerun>();

  constructor(state: StartState, definition: (versionId: string) => Promise<WorkflowDefinition>) {
    this.#state = state;
    this.#definition = definition;
    this.#resolveCaller = callerResolver(state.keys, state.members);
    this.#workflows = new Map(state.workflows.map((row) => [row.id, row]));
    this.#firstWorkflowRuns = new Map(
      state.replays.map((row) => [idempotencyId(row.caller, row.target, row.key), row]),
    );
  }

  async decide(call: StartCall): Promise<Started | UnpreparedStart> {
    const { nowMs } = this.#state;
    const caller = this.#callerOf(call.credential);
    if (!caller) return { ...unknownCaller, nowMs };
    const workflow = this.#workflowOf(call, caller);
    const first = this.#firstRunOf(call, caller);
    const decision = await this.#decisionFor(call, caller, workflow, first);
    if (decision.kind === 'unprepared') return { ...decision, workspaceId: caller.workspaceId };
    if (decision.kind === 'refused') return { ...decision, nowMs };
    const { states } = decision;
    if (decision.kind === 'replayed') {
      if (!first) throw new Error('A replay needs its first workflow run.');
      return { ...accepted(first, workflow), replayed: true, states, nowMs };
    }
    const started = this.#accept(call, caller, workflow, decision);
    return { ...accepted(started, workflow), replayed: false, states, nowMs };
  }

  writes(): Omit<StartWrites, 'progress'> {
    return {
      executedAtMs: this.#state.nowMs,
      counts: this.#counts,
      runs: this.runs,
      firstCalls: this.#newFirstCalls,
    };
  }

  #callerOf(credential: StartCall['credential']): Caller | null {
    return credential.kind === 'trigger'
      ? workflowCaller(credential)
      : this.#resolveCaller(credential);
  }

  #workflowOf({ workflowId }: StartCall, { workspaceId }: Caller): WorkflowRow | null {
    const workflow = workflowId === null ? undefined : this.#workflows.get(workflowId);
    return workflow?.workspaceId === workspaceId ? workflow : null;
  }

  #firstRunOf({ workflowId, idempotencyKey }: StartCall, { id }: Caller): FirstWorkflowRun | null {
    if (idempotencyKey === null) return null;
    return this.#firstWorkflowRuns.get(idempotencyId(id, workflowId ?? '', idempotencyKey)) ?? null;
  }

  async #decisionFor(
    call: StartCall,
    caller: Caller,
    workflow: WorkflowRow | null,
    first: FirstWorkflowRun | null,
  ): Promise<StartDecision> {
    const { nowMs, counts } = this.#state;
    const keyWindows = keyWindowsOf(caller, counts, this.#counts);
    const versionId = workflow?.versionId ?? null;
    const { body, idempotencyKey, digest = null } = call;
    const facts = {
      nowMs,
      caller,
      keyWindows,
      workflow: workflow && {
        enabled: workflow.enabled,
        definition: versionId === null ? null : await this.#definition(versionId),
        privateCreators: caller.kind === 'workflow' ? [] : workflow.privateCreators,
      },
      call: { body, idempotencyKey, digest },
      rerun: call.rerun && {
        isOtherVersion: call.rerun.versionId !== versionId,
        isGone: !this.#state.rerunIds.has(call.rerun.runId),
      },
      isLimitKept: this.#state.isLimitKept,
      idempotencyProblem: call.idempotencyProblem,
      replay: first && { sameBody: isSameBody(first, { digest }) },
    };
    const restoreCounts = rememberCounts(facts);
    const decision = decideStart(facts);
    if (decision.kind === 'unprepared') restoreCounts();
    return decision;
  }

  #accept(
    call: StartCall,
    caller: Caller,
    workflow: WorkflowRow | null,
    { definition, labels, input, ignoredInput, maxCostUsd }: Accepted,
  ): StartedRun {
    if (!workflow || workflow.versionId === null) {
      throw new Error('A start needs a workflow version.');
    }
    const { nowMs } = this.#state;
    const run: NewWorkflowRun = {
      id: uuid7(nowMs),
      workspaceId: workflow.workspaceId,
      workflowId: workflow.id,
      versionId: workflow.versionId,
      trigger: call.trigger,
      apiKeyId: caller.kind === 'key' ? caller.id : null,
      executedBy: caller.userId,
      deadlineMs: nowMs + definition.timeoutMs,
      input,
      labels: labelsJson(labels),
      maxCostUsd,
      storeBodies: workflow.storesBodies,
      rerun: call.rerun ?? null,
    };
    this.runs.push(run);
    if (call.rerun) this.reruns.set(run.id, call.rerun);
    const started = {
      target: workflow.id,
      targetName: workflow.name,
      result: run.id,
      status: 'processing' as const,
      executedAtMs: nowMs,
      versionId: run.versionId,
      versionLabel: workflow.versionLabel ?? '',
      ignored: [...ignoredInput],
    };
    if (call.idempotencyKey !== null) {
      if (!call.digest) throw new Error('A call with an idempotency key was not hashed.');
      const key = { caller: caller.id, key: call.idempotencyKey, digest: call.digest };
      const id = idempotencyId(caller.id, workflow.id, call.idempotencyKey);
      this.#firstWorkflowRuns.set(id, { ...started, ...key });
      this.#newFirstCalls.push({
        ...key,
        ...{ target: workflow.id, targetName: workflow.name, result: run.id },
        ...{ ignored: started.ignored, createdAtMs: nowMs },
      });
    }
    return started;
  }
}

type StartedRun = Omit<FirstWorkflowRun, 'caller' | 'key' | 'digest'>;

function accepted(run: StartedRun, workflow: WorkflowRow | null) {
  return {
    kind: 'accepted',
    runId: run.result,
    currentStatus: run.status,
    workflowId: run.target,
    workflowName: workflow?.name ?? '',
    workflowVersionId: run.versionId,
    workflowVersionLabel: run.versionLabel,
    executedAtMs: run.executedAtMs,
    ignoredInput: run.ignored,
  } as const;
}
