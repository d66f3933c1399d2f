import type { Counts, RateLimits } from '../../core/agent/limits.ts';
import type { ExecutionSettings, WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { TemplateSize } from '../../core/agent/prompt-size.ts';
import type { StoredVariables } from '../../core/agent/stored-files.ts';
import type { BudgetedCall, RunLimit } from '../../core/budget/budget.ts';
import type { BudgetWindow } from '../../core/budget/reserve.ts';
import { bytesOf } from '../../core/byte-shares.ts';
import type { NewEvent } from '../../core/event/event.ts';
import { executionEvent } from '../../core/event/execution-event.ts';
import { type QuotaReport, quotaEvent, quotaReports } from '../../core/event/quota-event.ts';
import type { Refusal } from '../../core/execution/check-call.ts';
import type { AcceptedCost } from '../../core/execution/check-cost.ts';
import type {
  AgentAtAdmission,
  Decision,
  ExecuteCall,
  Facts,
  MonthCount,
} from '../../core/execution/decide.ts';
import type { EndStatus } from '../../core/execution/execution.ts';
import {
  endSettings,
  neverCalled,
  type QueuedExecution,
  type Slots,
} from '../../core/execution/queued-execution.ts';
import { uuid7 } from '../../core/id.ts';
import type { PriceLookup } from '../../core/model/call-bound.ts';
import type { Caller } from '../../core/people/caller.ts';
import { BudgetWindows } from '../budgets/budget-windows.ts';
import type { RefusedExecution } from '../complete/completion.ts';
import {
  admittedOf,
  agentOfRow,
  apiKeyOf,
  callerResolver,
  draftOf,
  getOrCreate,
  idempotencyId,
  keyWindowsOf,
  sourceOfCall,
  streamOf,
  termsOf,
} from './admission-mapping.ts';
import type { AdmissionState, AgentRow, ReplayRow } from './admission-read.ts';
import {
  type AcceptedTerms,
  type AdmissionWrites,
  firstTurns,
  type NewExecution,
} from './admission-write.ts';
import { refusalCounter } from './counted-refusals.ts';
import { refusalRecorder } from './refusal-recorder.ts';
import type { StagedContents } from './stage-contents.ts';

/**
 * One admission batch in memory: what was read under the locks, what the calls decided so far have changed, and what
 * must be written. `admit.ts` describes the protocol.
 *
 * Invariants:
 * - Calls are decided in order. Each sees the counters, slots and first calls that the previous ones left.
 * - Nothing here survives the batch: there is no cache between batches.
 * - An execution is born claimed only while nothing waits in the queue and nothing earlier in this batch was queued, so
 *   it never overtakes an older execution.
 * - Tags grow per workspace. With an empty queue they follow the clock, so a later backlog never gets an older tag.
 */

type Accepted = Extract<Decision, { kind: 'accepted' }>;
type AcceptedInput = Pick<Accepted, 'variables' | 'additions'>;

export interface AdmissionBatchDeps {
  readonly testingLimits: RateLimits;
  readonly slots: Slots | null;
  /** The lease that executions are born claimed under; null for a process without one. */
  readonly worker: string | null;
  readonly prices: PriceLookup;
  /** Of the version of a batch of lines, under a limit of cost. */
  readonly lineTemplate?: TemplateSize | null;
  /** The contents of the only call, if they are written already. */
  readonly staged?: StagedContents | null;
}

/** What a key counts for: its own limit subject, then those of the keys that issued it. */
export interface KeySubjects {
  readonly id: string;
  readonly limitSubjects: readonly string[];
}

/** Where an accepted execution starts. */
export interface Placement {
  /** The process that starts the execution from memory; null if it waits in the queue. */
  readonly worker: string | null;
  readonly tag: number;
  /** Whether it holds one of the agent's slots; null if the agent has no cap. */
  readonly hasSlot: boolean | null;
}

export class AdmissionBatch {
  readonly #state: AdmissionState;
  readonly #deps: AdmissionBatchDeps;
  readonly #resolveCaller: ReturnType<typeof callerResolver>;
  readonly #agents: ReadonlyMap<string, AgentAtAdmission>;
  /** Agents with a draft in the place of their version, by the id of the draft. */
  readonly #drafts: ReadonlyMap<string, AgentAtAdmission>;
  readonly #slotsUsed: Map<string, number>;
  readonly #months: ReadonlyMap<string, MonthCount>;
  readonly #tags = new Map<string, number>();
  readonly #firstCalls: Map<string, ReplayRow>;
  readonly #readySteps: Map<string, boolean>;
  /** Whether something waits in the queue that a new execution must not overtake. */
  #hasWaiting: boolean;
  readonly #waitingWorkspaces: ReadonlySet<string>;
  readonly #keySubjects = new Map<string, readonly string[]>();
  /** Of budgets: `readBudgetWindows` reads them. */
  readonly windows: BudgetWindows;

  readonly #counts = new Map<string, Counts>();
  readonly #chargedWorkspaces = new Set<string>();
  readonly #refusals: ReturnType<typeof refusalRecorder>;
  readonly #countedRefusals = refusalCounter();
  readonly #terms = new Map<string, AcceptedTerms>();
  readonly #executions: NewExecution[] = [];
  readonly #refused: RefusedExecution[] = [];
  readonly #newFirstCalls: AdmissionWrites['firstCalls'][number][] = [];
  readonly #tallies: AdmissionWrites['tallies'][number][] = [];
  /** Workspaces with an endpoint for refusals or the quota, each with the shares of its quota that were reported. */
  readonly #reporting = new Map<string, ReadonlySet<number>>();
  readonly #events: NewEvent[] = [];
  /** Executions that start in this process after the commit. */
  readonly bornClaimed: QueuedExecution[] = [];

  constructor(state: AdmissionState, deps: AdmissionBatchDeps) {
    const { nowMs } = state;
    this.#state = state;
    this.#deps = deps;
    this.#resolveCaller = callerResolver(state.keys, state.members);
    const budgets = new Map(state.workspaces.map((row) => [row.id, row.budgets ?? []]));
    this.windows = new BudgetWindows(budgets, nowMs);
    const agentOf = (row: AgentRow) => {
      const isBudgeted = this.windows.of(row.workspaceId).length > 0;
      return { ...agentOfRow(row), isBudgeted };
    };
    this.#agents = new Map(state.agents.map((row) => [row.id, agentOf(row)]));
    this.#drafts = new Map(state.drafts.map((row) => [row.versionId, agentOf(row)]));
    this.#slotsUsed = new Map(state.agents.map((row) => [row.id, row.slotsUsed ?? 0]));
    this.#months = new Map(state.workspaces.map((row) => [row.id, row]));
    for (const row of state.workspaces) {
      if (row.reports) this.#reporting.set(row.id, new Set(row.quotaReports));
      this.#tags.set(row.id, Math.max(state.floor ?? clockTag(nowMs), row.lastTag ?? 0));
    }
    this.#firstCalls = new Map(
      state.replays.map((row) => [idempotencyId(row.caller, row.target, row.key), row]),
    );
    this.#readySteps = new Map(state.steps.map((step) => [stepKey(step), step.fallback]));
    this.#hasWaiting = state.floor !== null;
    const waiting = state.workspaces.filter((row) => row.lastTag !== null);
    this.#waitingWorkspaces = new Set(waiting.map(({ id }) => id));
    this.#refusals = refusalRecorder(state);
  }

  /** Whether budgets, or the limit of its workflow run, may concern the call. */
  isBudgeted(call: ExecuteCall): boolean {
    const caller = this.callerOf(call.credential);
    if (!caller) return false;
    return runLimitOf(call, caller) !== null || this.windows.of(caller.workspaceId).length > 0;
  }

  /** What keys of workflow runs count for. */
  keySubjects(keys: readonly KeySubjects[]): void {
    for (const { id, limitSubjects } of keys) this.#keySubjects.set(id, limitSubjects);
  }

  needWindows(call: ExecuteCall): void {
    const caller = this.callerOf(call.credential);
    if (caller) this.windows.need(caller.workspaceId, this.#budgetedCall(call, caller));
  }

  #budgetedCall(call: ExecuteCall, caller: Caller): BudgetedCall {
    const { labels } = admittedOf(call);
    const ofRun = this.#keySubjects.get(apiKeyOf(call, caller) ?? '') ?? [];
    const own = caller.countedKeys.map(({ limitSubject }) => limitSubject);
    return {
      agentId: call.agentId ?? '',
      keys: caller.kind === 'workflow' ? ofRun : own,
      user: labels?.user ?? null,
      tags: labels?.tags ?? [],
      run: runLimitOf(call, caller),
    };
  }

  /** Null if its workspace has no budgets, and its workflow run no limit. */
  #windowsOf(call: ExecuteCall, caller: Caller): BudgetWindow[] | null {
    if (!this.isBudgeted(call)) return null;
    return this.windows.windowsOf(caller.workspaceId, this.#budgetedCall(call, caller));
  }

  callerOf(credential: ExecuteCall['credential']): Caller | null {
    return credential.kind === 'workflow' ? credential.caller : this.#resolveCaller(credential);
  }

  /** Whether a workflow step may be called. Another process may have called it, its workflow run may have ended, or its
   * fallback may have replaced it. */
  mayCall({ credential }: ExecuteCall): boolean {
    if (credential.kind !== 'workflow') return true;
    return this.#readySteps.get(stepKey(credential.step)) === credential.fallback;
  }

  agentOf({ agentId, body }: ExecuteCall, caller: Caller): AgentAtAdmission | null {
    if (agentId === null) return null;
    const draft = draftOf(body);
    const agent = draft === null ? this.#agents.get(agentId) : this.#drafts.get(draft);
    return agent && agent.workspaceId === caller.workspaceId ? agent : null;
  }

  firstCallOf(call: ExecuteCall, caller: Caller): ReplayRow | null {
    if (call.idempotencyKey === null || call.agentId === null) return null;
    const key = idempotencyId(caller.id, call.agentId, call.idempotencyKey);
    return this.#firstCalls.get(key) ?? null;
  }

  facts(
    call: ExecuteCall,
    caller: Caller,
    agent: AgentAtAdmission | null,
    firstCall: ReplayRow | null,
  ): Facts {
    const { counts, nowMs } = this.#state;
    const agentCounts = agent ? (counts.get(agent.id) ?? null) : null;
    // Written even if this call does not spend them: writing an unchanged row is cheaper than tracking changes.
    const keyWindows = keyWindowsOf(caller, counts, this.#counts);
    if (agent && agentCounts) this.#counts.set(agent.id, agentCounts);
    return {
      nowMs,
      caller,
      keyWindows,
      agent,
      agentCounts,
      month: this.#months.get(caller.workspaceId) ?? { actionsPerMonth: 0, month: 0, used: 0 },
      testingLimits: this.#deps.testingLimits,
      prices: this.#deps.prices,
      lineTemplate: this.#deps.lineTemplate ?? null,
      call,
      idempotencyProblem: call.idempotencyProblem,
      replay: firstCall && { sameBody: isSameBody(firstCall, call.preparation) },
      windows: this.#windowsOf(call, caller),
    };
  }

  /** Returns the id of the new execution. */
  accept(
    call: ExecuteCall,
    caller: Caller,
    decision: Accepted,
    placement: Placement = this.#place(decision.agent, inputBytes(decision)),
  ): string {
    const { agent, variables } = decision;
    const id = uuid7(this.#state.nowMs);
    const apiKeyId = apiKeyOf(call, caller);
    const admitted = admittedOf(call);
    const { step, labels, batchLine } = admitted;
    if (step) this.#readySteps.delete(stepKey(step));
    // A workflow calls for the user who started the workflow run, with the key that started it.
    const stream = streamOf(call);
    const source = sourceOfCall(call, caller);
    const version = `${agent.id} ${agent.versionId}`;
    const termsKey = `${caller.id} ${caller.userId} ${apiKeyId} ${version} ${source} ${stream}`;
    const common = getOrCreate(this.#terms, termsKey, () =>
      termsOf(caller, agent, { apiKeyId, source, stream }),
    );
    const terms = this.#termsUnderLimit(termsKey, withCallerSettings(common, decision), decision);
    this.#chargedWorkspaces.add(caller.workspaceId);
    const { worker, tag, hasSlot } = placement;
    const { stored, warnings, cost, reservations } = decision;
    const callBoundUsd = cost?.boundUsd ?? null;
    const { json: inputVariables, fileData } = stored;
    const queued = { tag, hasSlot, claimed: worker !== null };
    this.#executions.push({
      ...admitted,
      ...{ id, terms, queued },
      ...{ inputVariables, fileData, files: stored.files, warnings },
      settingsApplied: terms.settings.applied ? JSON.stringify(terms.settings.applied) : null,
      callBoundUsd,
      staged: this.#stagedAs(stored),
      reservations,
    });
    // As a claim would return it: this process starts it from memory.
    if (worker !== null) {
      this.bornClaimed.push({
        ...terms,
        ...endSettings(agent.id, terms.settings),
        ...neverCalled,
        ...{ id, worker, attempt: 1, turns: firstTurns(terms), labels, batchLine, workflow: step },
        ...{ inputVariables, fileData, setup: agent.setup, callBoundUsd },
        ...(fileData === null && { variableValues: variables.values }),
        inputBytes: inputBytes(decision),
        reservedUsd: reservations?.[0]?.usd ?? null,
      });
    }
    if (call.idempotencyKey !== null) this.#rememberFirstCall(call, caller, id, decision);
    return id;
  }

  /** Calls under the same limit of cost share them. */
  #termsUnderLimit(key: string, terms: AcceptedTerms, { cost }: Accepted): AcceptedTerms {
    if (!cost) return terms;
    const limited = () => {
      return {
        ...terms,
        settings: { ...terms.settings, ...limitedSettings(terms.settings, cost) },
      };
    };
    const isCommon = terms === this.#terms.get(key);
    const limitedKey = `${key} ${cost.maxCostUSD} ${cost.maxTokens}`;
    return isCommon ? getOrCreate(this.#terms, limitedKey, limited) : limited();
  }

  /** Null if they are of an agent that has changed meanwhile. */
  #stagedAs({ json, fileData }: StoredVariables): StagedContents | null {
    const { staged = null } = this.#deps;
    return staged?.json === json && staged.fileData === fileData ? staged : null;
  }

  refuse(call: ExecuteCall, caller: Caller, agent: AgentAtAdmission, refusal: Refusal): void {
    this.#countedRefusals.count(call, caller, agent, refusal);
    const recorded = this.#refusals.record(call, caller, agent, refusal);
    if (recorded?.execution) this.#refused.push(recorded.execution);
    if (recorded) this.#tallies.push(recorded.tally);
    if (refusal.budget?.isSpent) this.windows.refused(refusal.budget);
    if (!this.#reporting.has(agent.workspaceId)) return;
    if (refusal.code === 'QUOTA_EXCEEDED') this.#chargedWorkspaces.add(agent.workspaceId);
    if (recorded?.execution) this.#events.push(refusalEvent(recorded.execution, this.#state.nowMs));
  }

  writes(): AdmissionWrites {
    const months = [...this.#chargedWorkspaces].map((workspaceId) => {
      const { month, used } = this.#months.get(workspaceId) ?? { month: 0, used: 0 };
      return { workspaceId, month, used };
    });
    const quotaReports = this.#reportQuotas();
    const { events: budgetEvents, ...budgets } = this.windows.writes();
    return {
      ...{ quotaReports, events: [...this.#events, ...budgetEvents], budgets },
      counts: this.#counts,
      months,
      executedAtMs: this.#state.nowMs,
      worker: this.#deps.worker,
      executions: this.#executions,
      staged: this.#deps.staged ?? null,
      refused: this.#refused,
      firstCalls: this.#newFirstCalls,
      refusals: this.#refusals.counted(),
      countedRefusals: this.#countedRefusals.counted(),
      tallies: this.#tallies,
    };
  }

  /** The shares of quotas that this batch has reached. Adds their events. */
  #reportQuotas(): QuotaReport[] {
    return [...this.#chargedWorkspaces].flatMap((workspaceId) => {
      const reported = this.#reporting.get(workspaceId);
      const count = this.#months.get(workspaceId);
      if (!reported || !count) return [];
      const isReported = (percent: number) => reported.has(count.month * 1_000 + percent);
      const reports = quotaReports(workspaceId, count, isReported);
      const { nowMs } = this.#state;
      this.#events.push(...reports.map((report) => quotaEvent(report, count, nowMs)));
      return reports;
    });
  }

  #rememberFirstCall(
    call: ExecuteCall,
    caller: Caller,
    executionId: string,
    { agent, ignoredVariables }: Accepted,
  ): void {
    const key = call.idempotencyKey ?? '';
    const { digest = null } = call.preparation ?? {};
    if (!digest) throw new Error('A call with an idempotency key was not hashed.');
    const firstCall = {
      ...{ caller: caller.id, target: agent.id, targetName: agent.name, key, digest },
      ...{ result: executionId, ignored: ignoredVariables },
    };
    const id = idempotencyId(caller.id, agent.id, key);
    this.#firstCalls.set(id, { ...firstCall, status: 'processing' });
    this.#newFirstCalls.push({ ...firstCall, createdAtMs: this.#state.nowMs });
  }

  /**
   * The placement of a line of a batch: in a free slot, or null. It is never queued: there it would precede calls that arrive
   * later. It does not overtake a call that waits, except with the first slot of its workspace.
   */
  placeLine(agent: AgentAtAdmission, line: AcceptedInput): Placement | null {
    const { id, workspaceId } = agent;
    const { slots, worker } = this.#deps;
    const { maxConcurrency = null } = agent.config;
    if (maxConcurrency !== null && (this.#slotsUsed.get(id) ?? 0) >= maxConcurrency) return null;
    if (this.#waitingWorkspaces.has(workspaceId) || !this.#state.workerHasLease) return null;
    if (this.#hasWaiting && slots?.holds(workspaceId)) return null;
    if (!slots?.reserve(workspaceId, inputBytes(line))) return null;
    const hasSlot = this.#takeAgentSlot(id, maxConcurrency);
    return { worker, hasSlot, tag: this.#nextTag(workspaceId) };
  }

  #place({ id, workspaceId, config }: AgentAtAdmission, bytes: number): Placement {
    const hasSlot = this.#takeAgentSlot(id, config.maxConcurrency ?? null);
    const worker = hasSlot === false ? null : this.#claimingWorker(workspaceId, bytes);
    return { worker, hasSlot, tag: this.#nextTag(workspaceId) };
  }

  #takeAgentSlot(agentId: string, maxConcurrency: number | null): boolean | null {
    if (maxConcurrency === null) return null;
    const used = this.#slotsUsed.get(agentId) ?? 0;
    if (used >= maxConcurrency) return false;
    this.#slotsUsed.set(agentId, used + 1);
    return true;
  }

  /** This process, if it has a free slot with room and nothing older waits. */
  #claimingWorker(workspaceId: string, bytes: number): string | null {
    const { slots, worker } = this.#deps;
    const canClaim =
      !this.#hasWaiting && this.#state.workerHasLease && slots?.reserve(workspaceId, bytes);
    if (canClaim) return worker;
    this.#hasWaiting = true;
    return null;
  }

  #nextTag(workspaceId: string): number {
    const tag = (this.#tags.get(workspaceId) ?? 0) + 1;
    this.#tags.set(workspaceId, tag);
    return tag;
  }
}

function runLimitOf({ credential }: ExecuteCall, { workspaceId }: Caller): RunLimit | null {
  if (credential.kind !== 'workflow' || credential.maxCostUsd === null) return null;
  return { runId: credential.step.runId, workspaceId, limitUsd: credential.maxCostUsd };
}

/** Null if the body was not hashed. */
export function isSameBody(
  first: { readonly digest: Buffer },
  preparation: { readonly digest: Buffer | null } | undefined,
): boolean | null {
  const { digest = null } = preparation ?? {};
  return digest && first.digest.equals(digest);
}

function refusalEvent({ id, terms, labels }: RefusedExecution, atMs: number): NewEvent {
  const { workspaceId, agentId, source, status, errorCode } = terms;
  return executionEvent({
    ...{ id, workspaceId, agentId, source, errorCode, labels, atMs, tokensUsed: 0, costUsd: '0' },
    status: status as EndStatus,
  });
}

/** Virtual time from the clock, in microseconds. */
export function clockTag(nowMs: number): number {
  return nowMs * 1_000;
}

/** Terms of its own for a call whose caller adds to the prompt or asks for a format. */
function withCallerSettings(
  terms: AcceptedTerms,
  { additions, responseFormat }: Accepted,
): AcceptedTerms {
  if (!additions && !responseFormat) return terms;
  const settings = {
    ...terms.settings,
    ...(additions && { additions }),
    ...(responseFormat && { responseFormat }),
  };
  return { ...terms, settings };
}

/** Its calls have a limit of output, from here if the agent has none. */
function limitedSettings(
  { maxTokens: own }: ExecutionSettings,
  { maxCostUSD, maxTokens }: AcceptedCost,
): Partial<ExecutionSettings> {
  const limit = maxCostUSD !== null && { maxCostUSD };
  return { ...limit, maxTokens, ...(own === null && { applied: { maxTokens } }) };
}

/** As a claim counts it. */
function inputBytes({ variables, additions }: AcceptedInput): number {
  return 2 * variables.json.length + (additions ? bytesOf(additions) : 0);
}

function stepKey({ runId, step, item }: WorkflowStepOf): string {
  return `${runId} ${step} ${item}`;
}
