import type { RateLimits, WindowState } from '../../core/agent/limits.ts';
import { effective, type ModelSettings } from '../../core/agent/model-settings.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { StoredVariables } from '../../core/agent/stored-files.ts';
import type { Refusal } from '../../core/execution/check-call.ts';
import {
  type Decision,
  decide,
  type ExecuteCall,
  rememberCounts,
} from '../../core/execution/decide.ts';
import type { ExecutionStatus } from '../../core/execution/execution.ts';
import type { Slots } from '../../core/execution/queued-execution.ts';
import { type TagBound, tagBound } from '../../core/execution/tag-bound.ts';
import { LruCache } from '../../core/lru-cache.ts';
import type { PriceLookup } from '../../core/model/call-bound.ts';
import type { Notifications } from '../../db/notifications.ts';
import type { Pipelines, Send } from '../../db/pipeline.ts';
import { awaitCommit } from '../transaction/await-commit.ts';
import { lanes } from '../transaction/batcher.ts';
import { transactBatch } from '../transaction/retry-transaction.ts';
import { AdmissionBatch, clockTag } from './admission-batch.ts';
import { readBudgetWindows } from './admission-budgets.ts';
import { lookupOf, unknownCaller } from './admission-mapping.ts';
import { readForAdmission } from './admission-read.ts';
import { writeAdmission } from './admission-write.ts';
import {
  needsPreparation,
  type PreparationDeps,
  prepareCall,
  preparedContents,
  type Target,
} from './prepare-call.ts';
import { stageContents } from './stage-contents.ts';

/**
 * Admission: decides whether calls of agents are accepted, and makes them durable.
 *
 * One batch is one transaction of two round trips:
 * 1. lock the limit rows (keys, agents, workspaces, each by id), then read keys, agents, counters and the clock;
 * 2. write counters, executions, refusals and idempotency keys, and commit.
 * In between, `decide` judges the calls one after the other in memory (`AdmissionBatch`).
 *
 * A call whose body must be parsed, hashed or examined comes back unprepared, and again once that is done
 * (`prepare-call.ts`). Nothing of it happens while rows are locked. Long contents are written in a round trip before these
 * (`stage-contents.ts`).
 *
 * Outcomes of a call: accepted (queued, or born claimed by this process), replayed (same idempotency key), refused. A
 * refusal is a value, and its record commits with the batch.
 *
 * Invariants:
 * - The response follows the commit.
 * - Limits are exact: nobody else changes a locked row between read and commit.
 * - A revoked key or a paused agent counts from its commit on, because it is read after the lock.
 *
 * Failure cases: a deadlock retries the batch; an error of one item isolates the items (`transactBatch`); a commit
 * without a response is looked up (`awaitCommit`). After any failure the reserved slots are released.
 */

/** The result of a call. `allowedOrigins` are those of its agent and key, for CORS. */
export type Admitted = { readonly nowMs: number; readonly allowedOrigins: readonly string[] } & (
  | Refusal
  | {
      readonly kind: 'accepted';
      readonly replayed: boolean;
      /** Null if a replayed call's record is deleted. */
      readonly currentStatus: ExecutionStatus | null;
      readonly executionId: string;
      readonly agentId: string;
      readonly agentName: string;
      readonly ignoredVariables: readonly string[];
      readonly states: readonly WindowState[];
      /** Parses the settings of a conversation; null for other calls and for a replay. */
      readonly settings: (() => AppliedSettings) | null;
    }
);

/** The settings that the agent and its version apply, and the caller's format if they have none. */
export interface AppliedSettings extends ModelSettings {
  readonly responseFormat: ResponseFormat | null;
}

export interface AdmissionDeps extends PreparationDeps {
  readonly pipelines: Pipelines;
  readonly prices: PriceLookup;
  readonly testingLimits: RateLimits;
  /** The slots of the worker in this process, if it has one. */
  readonly slots: Slots | null;
  readonly notifications: Pick<Notifications, 'publish'>;
  readonly onBatch?: (size: number) => void;
}

type TransactionDeps = AdmissionDeps & { readonly bound: TagBound };

export interface Admission {
  admit(call: ExecuteCall): Promise<Admitted>;
  idle(): Promise<void>;
}

const batchMax = 500;
const batchesInFlightMax = 2;

/** How long an admission transaction usually takes. Executions of a slower one are found by claims, not here. */
export const usualTransactionMs = 2_000;

export function createAdmission(admissionDeps: AdmissionDeps): Admission {
  const deps = { ...admissionDeps, bound: tagBound() };
  const { add, idle } = lanes<ExecuteCall, Admitted | UnpreparedCall>({
    sizeMax: batchMax,
    inFlightMax: batchesInFlightMax,
    weight: ({ body }) => weightOf(body),
    run: (calls) =>
      transactBatch(calls, (some) => deps.pipelines.use((send) => admitBatch(deps, send, some))),
    ...(deps.onBatch && { onBatch: deps.onBatch }),
  });
  const recentTargets = new LruCache<Target>(recentCharsMax, targetSize);
  async function admit(call: ExecuteCall): Promise<Admitted> {
    const key = targetKey(call);
    const recent = recentTargets.get(key);
    const isExpected = recent !== undefined && needsPreparation(call, recent);
    let next = isExpected ? await prepareCall(deps, call, recent) : call;
    for (;;) {
      const result = await add(next);
      if (result.kind !== 'unprepared') {
        if (result.kind === 'refused') recentTargets.delete(key);
        return result;
      }
      if (recentTargets.get(key)?.agent !== result.target.agent)
        recentTargets.set(key, result.target);
      next = await prepareCall(deps, next, result.target);
    }
  }
  return { admit, idle };
}

/** A call that comes back once it is prepared. */
interface UnpreparedCall {
  readonly kind: 'unprepared';
  readonly target: Target;
}

/** Characters of the agents that were called lately. */
const recentCharsMax = 8_388_608;

function targetSize(target: Target): number {
  return JSON.stringify(target).length;
}

function targetKey({ credential, agentId }: ExecuteCall): string {
  const caller = credential.kind === 'key' ? credential.hash : credential.caller.id;
  return `${caller} ${agentId}`;
}

function weightOf(body: ExecuteCall['body']): number {
  if (body.kind === 'variables') return body.variables.json.length;
  return body.kind === 'conversation' || body.kind === 'unparsed' ? body.chars : 0;
}

async function admitBatch(
  deps: TransactionDeps,
  send: Send,
  calls: ExecuteCall[],
): Promise<(Admitted | UnpreparedCall)[]> {
  const { pipelines, slots, bound, notifications } = deps;
  const contents = longContents(calls);
  const staged = contents && (await stageContents(send, contents));
  const worker = slots?.lease() ?? null;
  const sentAt = performance.now();
  const fromTag = bound.over(usualTransactionMs, sentAt);
  const lookup = lookupOf(calls, { worker, fromTag });
  const state = await readForAdmission(send, lookup, staged !== null);
  bound.observe(state.floor ?? clockTag(state.nowMs), sentAt);
  const batch = new AdmissionBatch(state, { ...deps, worker, staged });
  await readBudgetWindows(send, batch, calls);
  try {
    const results = calls.map((call) => admitOne(batch, call, state.nowMs));
    const writes = batch.writes();
    const [first] = [...writes.executions, ...writes.refused];
    const inserted = { xid: state.xid, id: first?.id, kind: 'execution' } as const;
    const hasEvents = await awaitCommit(pipelines, writeAdmission(send, writes), inserted);
    if (hasEvents ?? writes.events.length > 0) notifications.publish('cueline_event_queued');
    for (const execution of batch.bornClaimed) slots?.start(execution);
    if (writes.executions.some(({ queued }) => !queued.claimed))
      notifications.publish('cueline_execution_queued');
    return results;
  } catch (error) {
    for (const execution of batch.bornClaimed) slots?.release(execution);
    throw error;
  }
}

/** What is written before anything is locked. A call that is so long has a batch of its own. */
function longContents([call, ...others]: readonly ExecuteCall[]): StoredVariables | null {
  const contents = call && others.length === 0 ? preparedContents(call) : null;
  const chars = contents ? contents.json.length + (contents.fileData?.length ?? 0) : 0;
  return chars > stagedCharsMin ? contents : null;
}

const stagedCharsMin = 1_048_576;

function admitOne(
  batch: AdmissionBatch,
  call: ExecuteCall,
  nowMs: number,
): Admitted | UnpreparedCall {
  const caller = batch.callerOf(call.credential);
  if (!caller) return { ...unknownCaller, nowMs, allowedOrigins: [] };
  if (!batch.mayCall(call)) return { ...stepNotReady, nowMs, allowedOrigins: [] };
  const agent = batch.agentOf(call, caller);
  const allowedOrigins = [...caller.allowedOrigins, ...(agent?.allowedOrigins ?? [])];
  const firstCall = batch.firstCallOf(call, caller);
  const facts = batch.facts(call, caller, agent, firstCall);
  const restoreCounts = rememberCounts(facts);
  const decision = decide(facts);
  if (decision.kind === 'unprepared') {
    restoreCounts();
    return { kind: 'unprepared', target: { workspaceId: caller.workspaceId, agent } };
  }
  if (decision.kind === 'refused') {
    if (agent) batch.refuse(call, caller, agent, decision);
    return { ...decision, nowMs, allowedOrigins };
  }
  const { states } = decision;
  if (decision.kind === 'replayed') {
    if (!firstCall) throw new Error('A replay needs its first call.');
    return {
      kind: 'accepted',
      replayed: true,
      currentStatus: firstCall.status,
      executionId: firstCall.result,
      agentId: firstCall.target,
      agentName: firstCall.targetName,
      ignoredVariables: firstCall.ignored,
      settings: null,
      states,
      nowMs,
      allowedOrigins,
    };
  }
  return {
    kind: 'accepted',
    replayed: false,
    currentStatus: 'processing',
    executionId: batch.accept(call, caller, decision),
    agentId: decision.agent.id,
    agentName: decision.agent.name,
    settings: call.body.kind === 'conversation' ? () => appliedSettings(decision) : null,
    ignoredVariables: decision.ignoredVariables,
    states,
    nowMs,
    allowedOrigins,
  };
}

function appliedSettings({
  agent,
  responseFormat: asked,
}: Extract<Decision, { kind: 'accepted' }>): AppliedSettings {
  const own = agent.config.responseFormat ?? JSON.parse(agent.responseFormat ?? 'null');
  return { ...effective(agent.config, agent.version), responseFormat: own ?? asked };
}

/** The code tells `admit-steps.ts` to leave the step alone. */
const stepNotReady: Refusal = {
  kind: 'refused',
  code: 'CONFLICT',
  message: 'The step is not ready, or another process has called it.',
  fields: {},
  states: [],
  record: null,
};
