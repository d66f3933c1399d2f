import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';

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

test('the workflow run is accepted and completed; its steps name their executions', async () => {
  const accepted = await execute({ name: 'you', extra: 1 });
  assert.equal(accepted.status, 202);
  const { workflowRunId, statusUrl, ...rest } = accepted.body;
  assert.deepEqual(rest, {
    ...{ workflowId: workflow.workflowId, status: 'processing', ignoredInput: ['extra'] },
    stepsCounted: false,
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

test('numbers of an input keep their text', async () => {
  const body = '{"input":{"name":[1.0,1e400,12345678901234567890]}}';
  const { body: accepted } = await service.call('POST', `${workflow.path}/execute`, { key, body });
  assert.equal((await ended(accepted.statusUrl)).output, 'Hello [1.0,1e400,12345678901234567890]');
});

test('a long input is parsed as it was sent, and refused for what is wrong with it', async () => {
  const long = 'x'.repeat(inlineCharsMax);
  const send = (body: string) => service.call('POST', `${workflow.path}/execute`, { key, body });
  const accepted = await send(`{"input":{"name":1.0,"long":"${long}"}}`);
  const { output, input } = await ended(accepted.body.statusUrl);
  assert.deepEqual([output, input.long], ['Hello 1.0', long]);
  const malformed = await send(`{"input":{"name":"${long}"`);
  assert.deepEqual([malformed.status, malformed.body.code], [400, 'MALFORMED_BODY']);
});

test('the same Idempotency-Key and input start one workflow run', async () => {
  const headers = { 'idempotency-key': 'once' };
  const [one, two] = [
    await execute({ name: 'a' }, { key, headers }),
    await execute({ name: 'a' }, { key, headers }),
  ];
  assert.deepEqual([one.status, two.status], [202, 202]);
  assert.equal(two.headers.get('idempotent-replayed'), 'true');
  assert.equal(one.body.workflowRunId, two.body.workflowRunId);
  assert.ok(!('currentStatus' in one.body));
  await ended(one.body.statusUrl);
  const later = await execute({ name: 'a' }, { key, headers });
  assert.deepEqual(later.body, { ...one.body, currentStatus: 'success' });
  const other = await execute({ name: 'b' }, { key, headers });
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('a session needs the permission, and the run names its trigger', async () => {
  const path = workflow.path.replace('/v1', '');
  const user = await service.member('editor');
  const accepted = await execute({ name: 'you' }, { user }, path);
  assert.equal(accepted.status, 202);
  assert.equal((await ended(accepted.body.statusUrl)).trigger, 'dashboard');
  const viewer = await service.member('viewer');
  assert.equal((await execute({ name: 'you' }, { user: viewer }, path)).status, 403);
});

test('400 for a missing or malformed input, 404 and 403 if there is nothing to start', async () => {
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

test('a key can use workflows with its agents only, and read the runs it started', async () => {
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

test('a caller who cannot see an agent of the workflow cannot start it', async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const { path } = await makeWorkflow(service, greeting(hidden.agentId));
  const user = await service.member('editor');
  const { key: theirs } = await service.key({ userId: user });
  assert.equal((await execute({ name: 'x' }, { key: theirs }, path)).status, 404);
  assert.equal((await execute({ name: 'x' }, { user }, path.replace('/v1', ''))).status, 404);
  assert.equal((await execute({ name: 'x' }, { key }, path)).status, 202);
});

test('a deleted private agent still hides its workflow; its creator can start it and read the run', async () => {
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

test('a key is rejected where a session is required, whatever its Origin header', async () => {
  const options = { key, body: { input: { name: 'you' } }, headers: { origin: service.url } };
  const response = await service.call(
    'POST',
    `${workflow.path.replace('/v1', '')}/execute`,
    options,
  );
  assert.deepEqual(
    [response.status, response.body.message],
    [403, 'This endpoint requires a session.'],
  );
});
