import { parseExecuteBody } from '../src/core/agent/variables.ts';
import { fromId, toId } from '../src/core/id.ts';
import { hashKey } from '../src/core/people/key.ts';
import type {
  ForEach,
  StepDefinition,
  WorkflowDefinition,
} from '../src/core/workflow/definition.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { insertSlug } from '../src/features/agents/statements/slugs.ts';
import { agentsOf } from '../src/features/workflows/rules/decide-start.ts';
import {
  listSteps,
  runColumns,
  type WorkflowRunRow,
  type WorkflowStepRow,
} from '../src/features/workflows/statements/workflow-runs.ts';
import type { StartCall } from '../src/features/workflows/verbs/start-call.ts';
import type { TestAgent } from './agents.ts';
import { freshId } from './fresh-id.ts';
import type { Service } from './service.ts';

/** Workflows and their runs, inserted into the tables. */

export type StepOptions = Partial<Omit<StepDefinition, 'agentId' | 'forEach'>> & {
  readonly name: string;
  readonly agent: TestAgent;
  readonly forEach?: Partial<ForEach> & { readonly list: unknown };
};

export interface TestWorkflow {
  /** The stored id, and the wire id. */
  readonly id: string;
  readonly workflowId: string;
}

export function step({ agent, forEach, ...rest }: StepOptions): StepDefinition {
  return {
    agentId: agent.agentId,
    variables: {},
    after: [],
    when: null,
    fallback: null,
    onFailure: 'fail',
    onUnreadable: 'fail',
    ...rest,
    forEach: forEach ? { concurrency: 5, max: 100, ...forEach } : null,
  };
}

/** The variables of a step whose prompt is `{{text}}`. */
export const withText = (text: unknown) => ({ variables: { text } });

export async function addWorkflow(
  { db, workspaceId }: { readonly db: Db; readonly workspaceId: string },
  definition: Partial<WorkflowDefinition> & Pick<WorkflowDefinition, 'steps'>,
): Promise<TestWorkflow> {
  const complete: WorkflowDefinition = {
    input: { required: [], optional: [], defaults: {} },
    timeoutMs: 3_600_000,
    output: null,
    ...definition,
  };
  const [id, versionId] = [freshId(), freshId()];
  await sql`insert into workflows (id, workspace_id, name) values (${id}, ${workspaceId}, ${id})`.execute(
    db,
  );
  await sql`
    insert into workflow_versions (id, workflow_id, workspace_id, number, label, definition, agent_ids)
    values (${versionId}, ${id}, ${workspaceId}, 1, 'v1', ${JSON.stringify(complete)},
      ${agentsOf(complete).map((one) => fromId('agent', one))}::uuid[])`.execute(db);
  await insertSlug(db, { workspaceId, slug: `workflow-${id}`, subject: id });
  await sql`update workflows set workflow_version_id = ${versionId} where id = ${id}`.execute(db);
  return { id, workflowId: toId('workflow', id) };
}

/** A live workflow run without a started step. */
export async function addOpenRun(db: Db, workflow: TestWorkflow): Promise<string> {
  const id = freshId();
  await sql`
    insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, executed_at,
      deadline_at, input)
    select ${id}, workspace_id, id, workflow_version_id, 'api', 'processing', clock_timestamp(),
      clock_timestamp() + interval '1 hour', '{}' from workflows where id = ${workflow.id}`.execute(
    db,
  );
  return id;
}

/** The request that starts it with a key. */
export function startCall(
  workflow: TestWorkflow,
  key: string,
  input: object = {},
  idempotencyKey: string | null = null,
  fields: object = {},
): StartCall {
  return {
    credential: { kind: 'key', hash: hashKey(key) },
    workflowId: workflow.id,
    trigger: 'api',
    body: parseExecuteBody(JSON.stringify({ input, ...fields }), 'input'),
    idempotencyKey,
    idempotencyProblem: null,
  };
}

/** Starts a workflow run; returns its stored id. */
export async function startRun(
  service: Pick<Service, 'workflows'>,
  workflow: TestWorkflow,
  key: string,
  input: object = {},
): Promise<string> {
  const started = await service.workflows.workflowStarter.start(startCall(workflow, key, input));
  if (started.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(started)}`);
  return started.runId;
}

export interface WorkflowRunResult {
  readonly run: WorkflowRunRow;
  /** Keyed by `NAME` or `NAME[ITEM]`. */
  readonly steps: ReadonlyMap<string, WorkflowStepRow>;
  readonly output: unknown;
}

/** Waits for the end of a workflow run, however long it takes. */
export async function endOfRun(
  service: Pick<Service, 'workflows' | 'db'>,
  workflow: TestWorkflow,
  runId: string,
): Promise<WorkflowRunResult> {
  for (;;) {
    await service.workflows.waiters.wait(runId, 20_000, new AbortController().signal);
    const found = await sql<WorkflowRunRow>`
      select ${runColumns} from workflow_runs r join workflow_versions v on v.id = r.workflow_version_id
      where r.id = ${runId} and r.workflow_id = ${workflow.id}`.execute(service.db);
    const [run] = found.rows;
    if (!run) throw new Error('the workflow run no longer exists');
    if (run.status === 'processing') continue;
    const rows = await listSteps(service.db, runId);
    const named = ({ step: name, item }: WorkflowStepRow) => (item < 0 ? name : `${name}[${item}]`);
    return {
      run,
      steps: new Map(rows.map((row) => [named(row), row])),
      output: run.output === null ? null : (JSON.parse(run.output) as unknown),
    };
  }
}
