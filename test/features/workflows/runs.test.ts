import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { freezeWindows } from '../../../harness/windows.ts';
import {
  addWorkflow,
  endOfRun,
  startCall,
  startRun,
  step,
  withText,
} from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const { workflowStarter: starter, workflowCanceler: canceler } = service.workflows;
const agent = await addAgent(service, { user: '{{text}}' });
const simple = await addWorkflow(service, {
  input: { required: ['a'], optional: ['b'], defaults: { b: { c: 1.5 } } },
  steps: [step({ name: 'only', agent, ...withText('{{input.a}} {{input.b.c}}') })],
});

test('a start requires input and applies defaults', async () => {
  const runId = await startRun(service, simple, key, { a: 12345678901234567890n.toString() });
  const { output, run } = await endOfRun(service, simple, runId);
  assert.equal(output, '12345678901234567890 1.5');
  assert.equal(run.trigger, 'api');
  const refused = await starter.start(startCall(simple, key, { b: 1, a: null }));
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.code, 'MISSING_VARIABLES');
  assert.deepEqual(refused.fields, { missingInput: ['a'], requiredInput: ['a'] });
});

test('one Idempotency-Key starts one workflow run, also concurrently', async () => {
  const results = await Promise.all(
    Array.from({ length: 20 }, () => starter.start(startCall(simple, key, { a: 1 }, 'once'))),
  );
  const ids = new Set(results.map((one) => (one.kind === 'accepted' ? one.runId : one.code)));
  assert.equal(ids.size, 1);
  assert.equal(results.filter((one) => one.kind === 'accepted' && !one.replayed).length, 1);
  const other = await starter.start(startCall(simple, key, { a: 2 }, 'once'));
  assert.equal(other.kind === 'refused' && other.code, 'IDEMPOTENCY_KEY_REUSED');
});

test('an invalid definition fails only its own workflow run', async () => {
  const broken = await addWorkflow(service, {
    steps: [{ ...step({ name: 'a', agent }), after: null as never }],
  });
  const [failed = '', other = ''] = await Promise.all(
    [broken, simple].map((one) => startRun(service, one, key, { a: 1 })),
  );
  assert.equal((await endOfRun(service, broken, failed)).run.errorCode, 'INTERNAL');
  assert.equal((await endOfRun(service, simple, other)).run.status, 'success');
  assert.equal(service.faults.splice(0).length, 1);
});

test('a start spends the rate limit of its key exactly', async () => {
  const limited = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: 3, requestsPerDay: null },
  });
  await freezeWindows(service.db, limited.id);
  const results = await Promise.all(
    Array.from({ length: 8 }, () => starter.start(startCall(simple, limited.key, { a: 1 }))),
  );
  assert.equal(results.filter(({ kind }) => kind === 'accepted').length, 3);
  const refused = results.find((one) => one.kind === 'refused');
  assert.equal(refused?.kind === 'refused' && refused.code, 'RATE_LIMIT_EXCEEDED');
});

test('a refused start returns the first failed check', async () => {
  const code = async (workflow: { id: string }, of: string) => {
    const result = await starter.start(startCall({ ...workflow, workflowId: '' }, of, { a: 1 }));
    return result.kind === 'refused' ? result.code : result.kind;
  };
  const other = await addAgent(service);
  const tied = await service.key({ agentIds: [other.agentId] });
  const reader = await service.key({ permissions: ['read'] });
  const revoked = await service.key({ revokedAt: new Date(0) });
  const stranger = await service.workspace();
  const foreign = await service.key({
    workspaceId: stranger.workspaceId,
    userId: stranger.ownerId,
  });
  assert.equal(await code(simple, 'cue_none'), 'UNAUTHORIZED');
  assert.equal(await code(simple, revoked.key), 'UNAUTHORIZED');
  assert.equal(await code(simple, foreign.key), 'NOT_FOUND');
  assert.equal(await code(simple, tied.key), 'UNAUTHORIZED');
  assert.equal(await code(simple, reader.key), 'PERMISSION_DENIED');
  const off = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  await sql`update workflows set enabled = false where id = ${off.id}`.execute(service.db);
  assert.equal(await code(off, key), 'WORKFLOW_NOT_ACTIVE');
  const own = await service.key({ agentIds: [agent.agentId] });
  assert.equal(await code(simple, own.key), 'accepted');
});

test('a rate-limited step waits for the next window', async () => {
  const limited = await addAgent(service, {
    user: '{{text}}',
    rateLimits: { requestsPerHour: 1 },
  });
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent: limited, ...withText('a') }),
      step({ name: 'b', agent: limited, ...withText('{{steps.a.output}}b') }),
    ],
  });
  const runId = await startRun(service, workflow, key);
  const waiting = async () => {
    const { rows } = await sql`
      select from workflow_steps
      where run_id = ${runId} and step = 'b' and status = 'ready' and ready_at <= clock_timestamp()`.execute(
      service.db,
    );
    return rows.length > 0;
  };
  // If the hour ends just now, it is called at once.
  const turned = async () =>
    (
      await sql`select from workflow_runs where id = ${runId} and status <> 'processing'`.execute(
        service.db,
      )
    ).rows.length > 0;
  while (!(await waiting()) && !(await turned()))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const { rows: records } = await sql`
    select from executions where workflow_run_id = ${runId} and status = 'rate_limited'`.execute(
    service.db,
  );
  assert.equal(records.length, 0, 'a step that waits leaves no record');
  // The next window starts.
  await sql`update limits set hour = hour - 1 where subject = ${limited.id}`.execute(service.db);
  const { output } = await endOfRun(service, workflow, runId);
  assert.equal(output, 'ab');
});

test('a raised limit takes effect for waiting steps', async () => {
  const limited = await addAgent(service, { user: '{{text}}', rateLimits: { requestsPerDay: 1 } });
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent: limited, ...withText('a') }),
      step({ name: 'b', agent: limited, ...withText('{{steps.a.output}}b') }),
    ],
  });
  const runId = await startRun(service, workflow, key);
  for (;;) {
    const { rows } = await sql`
      select from workflow_steps where run_id = ${runId} and step = 'b'`.execute(service.db);
    if (rows.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const body = { rateLimits: { requestsPerDay: 5 } };
  const raised = await service.call('PATCH', `/api/v1/agents/${limited.agentId}`, { key, body });
  assert.equal(raised.status, 200);
  assert.equal((await endOfRun(service, workflow, runId)).output, 'ab');
});

test('canceling a workflow run stops its executions and starts no further step', async () => {
  const heldCall = service.models.hold();
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent, ...withText('held') }),
      step({ name: 'b', agent, ...withText('{{steps.a.output}}') }),
    ],
  });
  const runId = await startRun(service, workflow, key);
  const call = await heldCall.arrived;
  assert.equal(await canceler.cancel(runId), true);
  assert.equal(await canceler.cancel(runId), false);
  const { run, steps } = await endOfRun(service, workflow, runId);
  assert.equal(run.status, 'canceled');
  assert.equal(run.errorCode, 'CANCELED');
  assert.equal(steps.has('b'), false);
  if (!call.signal.aborted) {
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
  }
  for (;;) {
    const { rows } = await sql<{ status: string }>`
      select status from workflow_steps where run_id = ${runId}`.execute(service.db);
    if (rows[0]?.status === 'canceled') break;
    assert.equal(rows[0]?.status, 'canceling');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test('a workflow run past its deadline fails', async () => {
  const heldCall = service.models.hold();
  const workflow = await addWorkflow(service, {
    timeoutMs: 1_000,
    steps: [step({ name: 'a', agent, ...withText('held') })],
  });
  const runId = await startRun(service, workflow, key);
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.errorCode, 'DEADLINE_EXCEEDED');
  // The step may not have been called yet.
  heldCall.release();
});

test('a sweep takes a ready step whose process died', async () => {
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent, ...withText('found') })],
  });
  const runId = await startRun(service, workflow, key);
  await endOfRun(service, workflow, runId);
  // The state that a process leaves if it dies right after its commit.
  await sql`update workflow_runs set status = 'processing', completed_at = null, output = null where id = ${runId}`.execute(
    service.db,
  );
  await sql`
    update workflow_steps set status = 'ready', ready_at = clock_timestamp(), variables = '{"text":"again"}',
      agent_id = ${agent.id}, execution_id = null where run_id = ${runId}`.execute(service.db);
  const { output } = await endOfRun(service, workflow, runId);
  assert.equal(output, 'again');
});

test('deleting a workspace deletes its workflows and workflow runs', async () => {
  const other = await service.workspace();
  const { key: foreign } = await service.key({
    workspaceId: other.workspaceId,
    userId: other.ownerId,
  });
  const own = await addAgent({ db: service.db, ...other }, { user: 'x' });
  const workflow = await addWorkflow(
    { db: service.db, ...other },
    { steps: [step({ name: 'a', agent: own })] },
  );
  await endOfRun(service, workflow, await startRun(service, workflow, foreign));
  await sql`delete from workflows where workspace_id = ${other.workspaceId}`.execute(service.db);
  const { rows } =
    await sql`select from workflow_runs where workspace_id = ${other.workspaceId}`.execute(
      service.db,
    );
  assert.equal(rows.length, 0);
});
