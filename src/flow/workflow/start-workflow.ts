import { createHash } from 'node:crypto';
import { type ExecuteBody, variablesDigestInput } from '../../core/agent/variables.ts';
import { type Caller, workflowCaller } from '../../core/execution/caller.ts';
import type { Counts, WindowState } from '../../core/execution/limits.ts';
import { uuid7 } from '../../core/id.ts';
import { decideStart, type StartRefusal } from '../../core/workflow/decide-start.ts';
import type { WorkflowTrigger } from '../../core/workflow/definition.ts';
import { documentOf } from '../../core/workflow/document.ts';
import type { CallerLookup } from '../../store/admission/admission-read.ts';
import { isStatementError, isUnstorable } from '../../store/connection/database-error.ts';
import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import type { RunAtProgress } from '../../store/workflow/workflow-progress.ts';
import {
  type FirstWorkflowRun,
  type NewWorkflowRun,
  readForStart,
  type StartLookup,
  type StartWrites,
  type WorkflowRow,
  writeStart,
} from '../../store/workflow/workflow-start.ts';
import { callerResolver, membersOf, unknownCaller } from '../admission/admission-mapping.ts';
import { batcher } from '../admission/batcher.ts';
import { resolveCommit } from '../admission/resolve-commit.ts';
import { transactBatch } from '../admission/retry-transaction.ts';
import { type OnProgress, type ProgressDeps, planProgress } from './progress.ts';
import { nothing } from './value-cache.ts';

/** Starts runs of workflows: many calls, one transaction, as admission does. A refusal is a value. */

export interface StartCall {
  readonly credential:
    | { readonly kind: 'key'; readonly hash: string }
    | { readonly kind: 'session'; readonly caller: Caller }
    /** A schedule or a webhook, which its own id stands for; it counts as the user who made it. */
    | {
        readonly kind: 'trigger';
        readonly id: string;
        readonly workspaceId: string;
        readonly userId: string | null;
      };
  /** Null for a malformed id, which is simply unknown. */
  readonly workflowId: string | null;
  readonly trigger: WorkflowTrigger;
  /** Read as `{"input": {…}}`. */
  readonly body: ExecuteBody;
  readonly idempotencyKey: string | null;
  readonly idempotencyComplaint: string | null;
}

export type Started = { readonly nowMs: number } & (
  | StartRefusal
  | {
      readonly kind: 'accepted';
      readonly replayed: boolean;
      readonly runId: string;
      readonly workflowId: string;
      readonly workflowName: string;
      readonly workflowVersionId: string;
      readonly workflowVersionLabel: string;
      readonly executedAtMs: number;
      /** Names of the input that the workflow does not declare. */
      readonly ignoredInput: readonly string[];
      readonly states: readonly WindowState[];
    }
);

export interface WorkflowStarter {
  start(call: StartCall): Promise<Started>;
  idle(): Promise<void>;
}

export interface WorkflowStarterDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  readonly onProgress: OnProgress;
}

export function createWorkflowStarter(deps: WorkflowStarterDeps): WorkflowStarter {
  const { add, idle } = batcher<StartCall, Started>({
    sizeMax: 200,
    inFlightMax: 2,
    weight: ({ body }) => (body.kind === 'variables' ? body.variables.json.length : 0),
    run: (calls) =>
      transactBatch(calls, (some) => deps.pipelines.use((send) => transact(deps, send, some))),
  });
  return { start: add, idle };
}

async function transact(
  deps: WorkflowStarterDeps,
  send: Send,
  calls: StartCall[],
): Promise<Started[]> {
  const { definitions } = deps;
  const state = await readForStart(send, questionOf(calls));
  const { nowMs } = state;
  const callerAmong = callerResolver(state.keys, state.members);
  const workflows = new Map(state.workflows.map((row) => [row.id, row]));
  const firsts = new Map(
    state.replays.map((row) => [nameOf(row.caller, row.workflow_id, row.key), row]),
  );
  const counts = new Map<string, Counts>();
  const runs: NewWorkflowRun[] = [];
  const idempotency: StartWrites['idempotency'][number][] = [];
  const answers: Started[] = [];
  for (const call of calls) answers.push(await startOne(call));

  const begun = {
    runs: runs.map(atProgress),
    steps: { rows: [], items: [] },
    together: calls.length > 1,
    given: new Map(runs.map((run) => [run.id, { ...nothing, input: documentOf(run.input) }])),
  };
  const plan = await planProgress(deps, send, begun, []);
  const writes = { executedAtMs: nowMs, counts, runs, idempotency, progress: plan.writes };
  const stopping = await writeStart(send, writes).catch(async (error: unknown) => {
    if (isStatementError(error) || isUnstorable(error)) throw error;
    await resolveCommit(deps.pipelines, { xid: state.xid, id: runs[0]?.id, of: 'run' }, error);
    return [];
  });
  plan.committed();
  deps.onProgress({ ...plan, stopping });
  return answers;

  async function startOne(call: StartCall): Promise<Started> {
    const caller = callerOf(call.credential);
    if (!caller) return { ...unknownCaller, nowMs };
    const found = call.workflowId === null ? undefined : workflows.get(call.workflowId);
    const workflow = found?.workspace_id === caller.workspaceId ? found : null;
    const name = nameOf(caller.id, call.workflowId ?? '', call.idempotencyKey ?? '');
    const first = call.idempotencyKey === null ? undefined : firsts.get(name);
    const callerCounts = caller.kind === 'key' ? (state.counts.get(caller.id) ?? null) : null;
    if (callerCounts) counts.set(caller.id, callerCounts);
    const versionId = workflow?.version_id ?? null;
    const decision = decideStart({
      nowMs,
      caller,
      callerCounts,
      workflow: workflow && {
        enabled: workflow.enabled,
        definition: versionId === null ? null : await definitions(send, versionId),
        privateMakers: caller.kind === 'workflow' ? [] : workflow.private_makers,
      },
      body: call.body,
      idempotencyComplaint: call.idempotencyComplaint,
      replay: first ? { sameBody: () => first.digest.equals(digestOf(call)) } : null,
    });
    if (decision.kind === 'refused') return { ...decision, nowMs };
    const { states } = decision;
    if (decision.kind === 'replayed') {
      if (!first) throw new Error('a replay without its first call');
      return { ...accepted(first, workflow), replayed: true, states, nowMs };
    }
    if (!workflow || versionId === null) throw new Error('a start without a version');
    const run: NewWorkflowRun = {
      id: uuid7(nowMs),
      workspaceId: workflow.workspace_id,
      workflowId: workflow.id,
      versionId,
      trigger: call.trigger,
      apiKeyId: caller.kind === 'key' ? caller.id : null,
      executedBy: caller.userId,
      deadlineMs: nowMs + decision.definition.timeoutMs,
      input: decision.input,
      storeBodies: workflow.stores_bodies,
    };
    runs.push(run);
    const row = {
      workflow_id: workflow.id,
      run_id: run.id,
      executed_at_ms: nowMs,
      version_id: versionId,
      version_label: workflow.version_label ?? '',
      ignored_input: [...decision.ignoredInput],
    };
    if (call.idempotencyKey !== null) {
      const under = { caller: caller.id, key: call.idempotencyKey, digest: digestOf(call) };
      const { workflow_id: workflowId, run_id: runId, ignored_input: ignoredInput } = row;
      firsts.set(name, { ...row, ...under });
      idempotency.push({ ...under, workflowId, runId, ignoredInput });
    }
    return { ...accepted(row, workflow), replayed: false, states, nowMs };
  }

  function callerOf(credential: StartCall['credential']): Caller | null {
    return credential.kind === 'trigger' ? workflowCaller(credential) : callerAmong(credential);
  }
}

function questionOf(calls: readonly StartCall[]): StartLookup {
  const keyHashes = new Set<string>();
  const workspaceIds = new Set<string>();
  const firstWorkflowRuns: StartLookup['firstWorkflowRuns'][number][] = [];
  for (const { credential, workflowId, idempotencyKey: key } of calls) {
    let asked: CallerLookup;
    if (credential.kind === 'key') {
      keyHashes.add(credential.hash);
      asked = { hash: credential.hash, caller: null };
    } else {
      const one = credential.kind === 'session' ? credential.caller : credential;
      workspaceIds.add(one.workspaceId);
      asked = { hash: null, caller: one.id };
    }
    if (workflowId !== null && key !== null) firstWorkflowRuns.push({ ...asked, workflowId, key });
  }
  return {
    keyHashes: [...keyHashes],
    workspaceIds: [...workspaceIds],
    members: membersOf(calls),
    workflowIds: [...new Set(calls.flatMap(({ workflowId }) => workflowId ?? []))],
    firstWorkflowRuns,
  };
}

function accepted(
  first: Omit<FirstWorkflowRun, 'caller' | 'key' | 'digest'>,
  workflow: WorkflowRow | null,
) {
  return {
    kind: 'accepted',
    runId: first.run_id,
    workflowId: first.workflow_id,
    workflowName: workflow?.name ?? '',
    workflowVersionId: first.version_id,
    workflowVersionLabel: first.version_label,
    executedAtMs: first.executed_at_ms,
    ignoredInput: first.ignored_input,
  } as const;
}

function atProgress(run: NewWorkflowRun): RunAtProgress {
  return {
    id: run.id,
    workspace_id: run.workspaceId,
    workflow_id: run.workflowId,
    workflow_version_id: run.versionId,
    status: 'processing',
    api_key_id: run.apiKeyId,
    executed_by: run.executedBy,
  };
}

function nameOf(caller: string, workflowId: string, key: string): string {
  return `${caller} ${workflowId} ${key}`;
}

function digestOf({ body }: StartCall): Buffer {
  const text = body.kind === 'variables' ? variablesDigestInput(body.variables) : body.kind;
  return createHash('sha256').update(text).digest();
}
