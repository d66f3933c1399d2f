import { decide, type ExecuteCall, type Refusal } from '../../core/execution/decide.ts';
import type { RateLimits, WindowState } from '../../core/execution/limits.ts';
import type { Slots } from '../../core/execution/queued-execution.ts';
import { type TagBound, tagBound } from '../../core/execution/tag-bound.ts';
import { readForAdmission } from '../../store/admission/admission-read.ts';
import { writeAdmission } from '../../store/admission/admission-write.ts';
import { isStatementError, isUnstorable } from '../../store/connection/database-error.ts';
import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import { type AdmissionBatch, admissionBatch, clockTag } from './admission-batch.ts';
import { questionOf, unknownCaller } from './admission-mapping.ts';
import { batcher } from './batcher.ts';
import { resolveCommit } from './resolve-commit.ts';
import { transactBatch } from './retry-transaction.ts';

/**
 * Admission: many calls, one transaction. Lock and read in one round trip, decide in memory, write and commit in
 * another. A refusal is a value, and its record commits with the rest.
 */

/** What a call is answered with. `allowedOrigins` are those of its agent and key, for CORS. */
export type Admitted = { readonly nowMs: number; readonly allowedOrigins: readonly string[] } & (
  | Refusal
  | {
      readonly kind: 'accepted';
      readonly replayed: boolean;
      readonly executionId: string;
      readonly agentId: string;
      readonly agentName: string;
      readonly ignoredVariables: readonly string[];
      readonly states: readonly WindowState[];
    }
);

export interface AdmissionDeps {
  readonly pipelines: Pipelines;
  readonly testingLimits: RateLimits;
  /** The slots of this process where it works as well. */
  readonly slots: Slots | null;
  /** Told when runs were queued that no process has yet. */
  readonly onQueued: () => void;
  readonly onBatch?: (size: number) => void;
}

type BoundDeps = AdmissionDeps & { readonly bound: TagBound };

export interface Admission {
  admit(call: ExecuteCall): Promise<Admitted>;
  idle(): Promise<void>;
}

const batchMax = 500;
const batchesInFlightMax = 2;

/** How long a transaction of admission usually takes at most: what waits longer is found by a claim, not by admission. */
const usualMs = 2_000;

export function createAdmission(given: AdmissionDeps): Admission {
  const parts = { ...given, bound: tagBound() };
  const { add, idle } = batcher<ExecuteCall, Admitted>({
    sizeMax: batchMax,
    inFlightMax: batchesInFlightMax,
    weight: ({ body }) => (body.kind === 'variables' ? body.variables.json.length : 0),
    run: (calls) =>
      transactBatch(calls, (some) => parts.pipelines.use((send) => transact(parts, send, some))),
    ...(parts.onBatch && { onBatch: parts.onBatch }),
  });
  return { admit: add, idle };
}

async function transact(parts: BoundDeps, send: Send, calls: ExecuteCall[]): Promise<Admitted[]> {
  const worker = parts.slots?.lease() ?? null;
  const sentAt = performance.now();
  const fromTag = parts.bound.over(usualMs, sentAt);
  const state = await readForAdmission(send, questionOf(calls, { worker, fromTag }));
  parts.bound.observe(state.floor ?? clockTag(state.nowMs), sentAt);
  const book = admissionBatch(state, { ...parts, worker });
  try {
    const answers = calls.map((call) => admitOne(book, call, state.nowMs));
    const writes = book.writes();
    await writeAdmission(send, writes).catch(async (error: unknown) => {
      if (isStatementError(error) || isUnstorable(error)) throw error;
      await resolveCommit(
        parts.pipelines,
        { xid: state.xid, id: writes.executions[0]?.id, of: 'execution' },
        error,
      );
    });
    for (const run of book.born) parts.slots?.start(run);
    if (writes.executions.some(({ run }) => run && !run.born)) parts.onQueued();
    return answers;
  } catch (error) {
    for (const run of book.born) parts.slots?.release(run.workspaceId);
    throw error;
  }
}

function admitOne(book: AdmissionBatch, call: ExecuteCall, nowMs: number): Admitted {
  const caller = book.callerOf(call.credential);
  if (!caller) return { ...unknownCaller, record: null, nowMs, allowedOrigins: [] };
  if (!book.mayCall(call)) return { ...notReady, nowMs, allowedOrigins: [] };
  const agent = book.agentOf(call.agentId, caller);
  const allowedOrigins = [...caller.allowedOrigins, ...(agent?.allowedOrigins ?? [])];
  const firstCall = book.firstCallOf(call, caller);
  const decision = decide(book.facts(call, caller, agent, firstCall));
  if (decision.kind === 'refused') {
    if (agent) book.refuse(call, caller, agent, decision);
    return { ...decision, nowMs, allowedOrigins };
  }
  const { states } = decision;
  if (decision.kind === 'replayed') {
    if (!firstCall) throw new Error('a replay without its first call');
    const { executionId, agentId, agentName, ignoredVariables } = firstCall;
    const first = { executionId, agentId, agentName, ignoredVariables };
    return { kind: 'accepted', replayed: true, ...first, states, nowMs, allowedOrigins };
  }
  return {
    kind: 'accepted',
    replayed: false,
    executionId: book.accept(call, caller, decision),
    agentId: decision.agent.id,
    agentName: decision.agent.name,
    ignoredVariables: decision.ignoredVariables,
    states,
    nowMs,
    allowedOrigins,
  };
}

const notReady: Refusal = {
  kind: 'refused',
  code: 'CONFLICT',
  message: 'The step is not to be called, or another process calls it.',
  fields: {},
  states: [],
  record: null,
};
