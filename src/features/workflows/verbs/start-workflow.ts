import type { Compute } from '../../../core/compute.ts';
import { LruCache } from '../../../core/lru-cache.ts';
import { documentOf } from '../../../core/workflow/document.ts';
import type { RunValues } from '../../../core/workflow/run-state.ts';
import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { callerLookup, membersOf } from '../../../engine/admit/admission-mapping.ts';
import { parseAndHash } from '../../../engine/admit/prepare-call.ts';
import {
  type ProgressDeps,
  type Progressed,
  planProgress,
} from '../../../engine/advance/plan-progress.ts';
import { noValues } from '../../../engine/advance/value-cache.ts';
import type {
  LockedWorkflowRun,
  ProgressWrites,
  WorkflowRunStepState,
} from '../../../engine/advance/workflow-progress.ts';
import { awaitCommit } from '../../../engine/transaction/await-commit.ts';
import { batcher } from '../../../engine/transaction/batcher.ts';
import { transactBatch } from '../../../engine/transaction/retry-transaction.ts';
import {
  type NewWorkflowRun,
  readForStart,
  type StartLookup,
  writeStart,
} from '../statements/workflow-start.ts';
import type { Rerun } from './rerun-items.ts';
import type { StartCall, Started } from './start-call.ts';
import { type UnpreparedStart, WorkflowStarts } from './workflow-starts.ts';

/**
 * Starts workflow runs, with the protocol of admission (`admit.ts`): one batch is one transaction that locks and reads,
 * decides in memory (`WorkflowStarts`), plans the first steps, then writes and commits. A refusal is a value. Refused starts
 * leave no record.
 */

export interface WorkflowStarter {
  start(call: StartCall): Promise<Started>;
  idle(): Promise<void>;
}

export interface WorkflowStarterDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  readonly compute: Compute;
  readonly progressed: Progressed;
}

const batchMax = 200;
const batchesInFlightMax = 2;

export function createWorkflowStarter(deps: WorkflowStarterDeps): WorkflowStarter {
  const { add, idle } = batcher<StartCall, Started | UnpreparedStart>({
    sizeMax: batchMax,
    inFlightMax: batchesInFlightMax,
    weight: ({ body, rerun }) => {
      const reused = (rerun?.reused ?? []).reduce(
        (sum, { output }) => sum + (output?.length ?? 0),
        0,
      );
      if (body.kind === 'unparsed') return reused + body.chars;
      return reused + (body.kind === 'variables' ? body.variables.json.length : 0);
    },
    run: (calls) =>
      transactBatch(calls, (some) =>
        deps.pipelines.use((send) => startWorkflows(deps, send, some)),
      ),
  });
  // As in `admit.ts`: a caller that was seen lately is expected to be known again.
  const recentCallers = new LruCache<string>(recentCallersMax);
  async function start(call: StartCall): Promise<Started> {
    const key = 'hash' in call.credential ? call.credential.hash : callerId(call.credential);
    const recent = recentCallers.get(key);
    let next = recent === undefined ? call : await prepare(recent, call);
    for (;;) {
      const result = await add(next);
      if (result.kind !== 'unprepared') {
        if (result.kind === 'refused') recentCallers.delete(key);
        return result;
      }
      recentCallers.set(key, result.workspaceId);
      next = await prepare(result.workspaceId, next);
    }
  }
  const prepare = async (workspaceId: string, call: StartCall): Promise<StartCall> => ({
    ...call,
    ...(await parseAndHash(deps.compute, workspaceId, call)),
    ...(call.rerun && { digest: call.rerun.digest }),
  });
  return { start, idle };
}

const recentCallersMax = 10_000;

function callerId(credential: Exclude<StartCall['credential'], { kind: 'key' }>): string {
  return credential.kind === 'session' ? credential.caller.id : credential.id;
}

async function startWorkflows(
  deps: WorkflowStarterDeps,
  send: Send,
  calls: StartCall[],
): Promise<(Started | UnpreparedStart)[]> {
  const state = await readForStart(send, lookupOf(calls));
  const starts = new WorkflowStarts(state, (versionId) => deps.definitions(send, versionId));
  const results: (Started | UnpreparedStart)[] = [];
  for (const call of calls) results.push(await starts.decide(call));

  const { runs, reruns } = starts;
  const started = {
    runs: runs.map((run) => atProgress(run, state.nowMs)),
    steps: { rows: reusedSteps(reruns), items: [] },
    shared: calls.length > 1,
    startValues: new Map(
      runs.map((run) => [
        run.id,
        { ...noValues, input: documentOf(run.input), outputs: reusedOutputs(reruns.get(run.id)) },
      ]),
    ),
    chosen: reruns,
  };
  const plan = await planProgress(deps, send, started, []);
  const writes = { ...starts.writes(), progress: withReused(plan.writes, started.steps.rows) };
  const inserted = { xid: state.xid, id: runs[0]?.id, kind: 'workflowRun' } as const;
  const completed = await awaitCommit(deps.pipelines, writeStart(send, writes), inserted);
  const { stopping, eventsQueued } = completed ?? { stopping: [], eventsQueued: true };
  deps.progressed({ ...plan.progress, stopping }, eventsQueued);
  return results;
}

/** The steps that runs of chosen items have taken over. */
function reusedSteps(reruns: ReadonlyMap<string, Rerun>): WorkflowRunStepState[] {
  return [...reruns].flatMap(([runId, { reused }]) => reused.map((step) => ({ ...step, runId })));
}

function reusedOutputs(rerun: Rerun | undefined): RunValues['outputs'] {
  const outputs = (rerun?.reused ?? []).flatMap(({ step, output }) =>
    output === null ? [] : ([[step, documentOf(output)]] as const),
  );
  return new Map(outputs);
}

/** Adds the steps that were taken over, unless the run has changed them. */
function withReused(
  { steps, ends }: ProgressWrites,
  reused: readonly WorkflowRunStepState[],
): ProgressWrites {
  const keyOf = ({ runId, step, item }: WorkflowRunStepState) => `${runId} ${step} ${item}`;
  const written = new Set(steps.map(keyOf));
  return { steps: [...reused.filter((step) => !written.has(keyOf(step))), ...steps], ends };
}

function lookupOf(calls: readonly StartCall[]): StartLookup {
  const keyHashes = new Set<string>();
  const workspaceIds = new Set<string>();
  const firstCalls: StartLookup['firstCalls'][number][] = [];
  for (const { credential, workflowId, idempotencyKey: key } of calls) {
    if (credential.kind === 'key') keyHashes.add(credential.hash);
    else if (credential.kind === 'session') workspaceIds.add(credential.caller.workspaceId);
    else workspaceIds.add(credential.workspaceId);
    if (workflowId === null || key === null) continue;
    const caller = callerLookup(
      credential.kind === 'trigger' ? { kind: 'trigger', caller: credential } : credential,
    );
    firstCalls.push({ ...caller, target: workflowId, key });
  }
  return {
    keyHashes: [...keyHashes],
    workspaceIds: [...workspaceIds],
    members: membersOf(calls),
    workflowIds: [...new Set(calls.flatMap(({ workflowId }) => workflowId ?? []))],
    firstCalls,
    rerunIds: [...new Set(calls.flatMap(({ rerun }) => rerun?.runId ?? []))],
    isLimited: calls.some(({ body }) => body.kind === 'variables' && body.maxCostUSD !== undefined),
  };
}

function atProgress(run: NewWorkflowRun, nowMs: number): LockedWorkflowRun {
  return {
    id: run.id,
    workspaceId: run.workspaceId,
    workflowId: run.workflowId,
    workflowVersionId: run.versionId,
    status: 'processing',
    apiKeyId: run.apiKeyId,
    executedBy: run.executedBy,
    labels: run.labels,
    maxCostUsd: run.maxCostUsd,
    reportingMs: nowMs,
  };
}
