import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { addAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/made-workflows.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));

function execute(input: object, more: object = { key }, path = workflow.path) {
  return service.call('POST', `${path}/execute`, { body: { input }, ...more });
}

async function ended(statusUrl: string) {
  for (;;) {
    const { body } = await service.call('GET', `${statusUrl}?wait=20`, { key });
    if (body.status !== 'processing') return body;
  }
}

test('accepted, then carried out: the run holds its steps, and each the execution', async () => {
  const accepted = await execute({ name: 'you', extra: 1 });
  assert.equal(accepted.status, 202);
  const { workflowRunId, statusUrl, ...rest } = accepted.body;
  assert.deepEqual(rest, {
    ...{ workflowId: workflow.workflowId, status: 'processing', ignoredInput: ['extra'] },
  });
  assert.equal(statusUrl, `${workflow.path}/runs/${workflowRunId}`);
  assert.equal(accepted.headers.get('location'), statusUrl);
  const run = await ended(statusUrl);
  assert.deepEqual(
    [run.status, run.output, run.trigger, run.workflowVersionLabel],
    ['success', 'Hello you', 'api', 'v1'],
  );
  assert.deepEqual(run.input, { name: 'you', extra: 1 });
  const [step] = run.steps;
  assert.deepEqual([step.name, step.status, step.agentId], ['greet', 'success', agent.agentId]);
  const { body } = await service.call('GET', `${agent.path}/executions/${step.executionId}`, {
    key,
  });
  assert.deepEqual([body.source, body.outputText], ['workflow', 'Hello you']);
});

test('the numbers of an input are carried through as they were written', async () => {
  const body = '{"input":{"name":[1.0,1e400,12345678901234567890]}}';
  const { body: accepted } = await service.call('POST', `${workflow.path}/execute`, { key, body });
  assert.equal((await ended(accepted.statusUrl)).output, 'Hello [1.0,1e400,12345678901234567890]');
});

test('the same key and input start one run', async () => {
  const headers = { 'idempotency-key': 'once' };
  const [one, two] = [
    await execute({ name: 'a' }, { key, headers }),
    await execute({ name: 'a' }, { key, headers }),
  ];
  assert.deepEqual([one.status, two.status], [202, 202]);
  assert.equal(two.headers.get('idempotent-replayed'), 'true');
  assert.equal(one.body.workflowRunId, two.body.workflowRunId);
  const other = await execute({ name: 'b' }, { key, headers });
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('from a session it says so, and needs the right', async () => {
  const path = workflow.path.replace('/v1', '');
  const user = await service.member('editor');
  const accepted = await execute({ name: 'you' }, { user }, path);
  assert.equal(accepted.status, 202);
  assert.equal((await ended(accepted.body.statusUrl)).trigger, 'dashboard');
  const viewer = await service.member('viewer');
  assert.equal((await execute({ name: 'you' }, { user: viewer }, path)).status, 403);
});

test('400 where input is missing or has no form, 404 and 403 where there is nothing to start', async () => {
  const missing = await execute({});
  assert.equal(missing.status, 400);
  assert.deepEqual([missing.body.missingInput, missing.body.requiredInput], [['name'], ['name']]);
  const path = `${workflow.path}/execute`;
  assert.equal((await service.call('POST', path, { key, body: { input: 1 } })).status, 400);
  const nothing = await service.call('POST', path, { key, body: {} });
  assert.deepEqual([nothing.status, nothing.body.missingInput], [400, ['name']]);
  assert.equal((await service.call('POST', path, { key, body: '{' })).status, 400);
  assert.equal((await execute({ name: 'x' }, { key }, '/api/v1/workflows/wfl_none')).status, 404);
  const off = await makeWorkflow(service, greeting(agent.agentId), { enabled: false });
  const refused = await execute({ name: 'x' }, { key }, off.path);
  assert.deepEqual([refused.status, refused.body.code], [403, 'WORKFLOW_NOT_ACTIVE']);
});

test('403 where a stored condition breaks a rule that is newer, and reading the workflow says so', async () => {
  const { input, steps } = greeting(agent.agentId);
  const when = 'input.list.all(a, a > 1.0)';
  const stored = await makeWorkflow(service, { input, steps: [{ ...steps[0], when }] });
  const nested = 'input.list.all(a, input.list.all(b, a > b))';
  // Versions are immutable: this is one from before the rule.
  await service.db.transaction().execute(async (trx) => {
    await sql`alter table workflow_versions disable trigger user`.execute(trx);
    await sql`update workflow_versions
      set definition = jsonb_set(definition::jsonb, '{steps,0,when}', to_jsonb(${nested}::text))::json
      where id = ${fromId('workflowVersion', stored.workflowVersionId)}`.execute(trx);
    await sql`alter table workflow_versions enable trigger user`.execute(trx);
  });
  const message = '"all" may not stand inside "all": list macros cannot be nested.';
  const refused = await execute({ name: 'x' }, { key }, stored.path);
  assert.deepEqual([refused.status, refused.body.code], [403, 'WORKFLOW_NOT_ACTIVE']);
  assert.equal(refused.body.message, `The workflow is disabled. Step "greet": ${message}`);
  const manager = await service.key();
  const { body } = await service.call('GET', stored.path, { key: manager.key });
  assert.deepEqual(body.problems, [{ step: 'greet', path: 'steps.0.when', message }]);
  const { body: sound } = await service.call('GET', workflow.path, { key: manager.key });
  assert.equal(Object.hasOwn(sound, 'problems'), false);
});

test('a key reaches the workflows whose agents it reaches; what it started it may read', async () => {
  const other = await addAgent(service);
  const tied = await service.key({ agentIds: [other.agentId] });
  assert.equal((await execute({ name: 'x' }, { key: tied.key })).status, 401);
  const bound = await service.key({ agentIds: [agent.agentId], permissions: ['execute'] });
  const accepted = await execute({ name: 'x' }, { key: bound.key });
  assert.equal(accepted.status, 202);
  const own = await service.call('GET', accepted.body.statusUrl, { key: bound.key });
  assert.equal(own.status, 200);
  const foreign = (await execute({ name: 'x' })).body.statusUrl;
  assert.equal((await service.call('GET', foreign, { key: bound.key })).status, 404);
});

test('who does not see an agent of a workflow cannot start it', async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const { path } = await makeWorkflow(service, greeting(hidden.agentId));
  const user = await service.member('editor');
  const { key: theirs } = await service.key({ userId: user });
  assert.equal((await execute({ name: 'x' }, { key: theirs }, path)).status, 404);
  assert.equal((await execute({ name: 'x' }, { user }, path.replace('/v1', ''))).status, 404);
  assert.equal((await execute({ name: 'x' }, { key }, path)).status, 202);
});

test('nor once that agent is deleted; who saw it can, and reads the run', async () => {
  const visible = (visibility: 'public' | 'private') => addAgent(service, { visibility });
  const [open, hidden] = [await visible('public'), await visible('private')];
  const { steps, ...rest } = greeting(agent.agentId);
  const instead = ({ agentId }: { agentId: string }) => ({
    ...rest,
    steps: steps.map((step) => ({ ...step, fallback: { agentId, variables: step.variables } })),
  });
  const { key: theirs } = await service.key({ userId: await service.member('editor') });
  const started = async (of: { path: string; agentId: string }, by: string) => {
    const { path } = await makeWorkflow(service, instead(of));
    await service.call('POST', `${of.path}/lifecycle`, { key, body: { action: 'disable' } });
    assert.equal((await service.call('DELETE', of.path, { key })).status, 204);
    const { status, body } = await execute({ name: 'x' }, { key: by }, path);
    if (status !== 202) return [status];
    return [status, (await service.call('GET', body.statusUrl, { key: by })).status];
  };
  assert.deepEqual(await started(hidden, theirs), [404]);
  assert.deepEqual(await started(await visible('private'), key), [202, 200]);
  assert.deepEqual(await started(open, theirs), [202, 200]);
});

test('a key is refused where a session is asked for, wherever it says it comes from', async () => {
  const options = { key, body: { input: { name: 'you' } }, headers: { origin: service.url } };
  const answer = await service.call('POST', `${workflow.path.replace('/v1', '')}/execute`, options);
  assert.deepEqual([answer.status, answer.body.message], [403, 'This needs a session.']);
});
