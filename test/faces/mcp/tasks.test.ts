import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makeWorkflow } from '../../../harness/created-workflows.ts';
import { legacy, modern, withTasks } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const greeter = await addAgent(service, { slug: 'greeter' });
const hello = { name: 'greeter', arguments: { name: 'Ada' } };

async function start(name: string, args: object) {
  const params = { name, arguments: args };
  const { body } = await modern(service, 'tools/call', params, { key, ...withTasks });
  return body.result;
}

async function send(method: string, taskId: string, given = key) {
  return (await modern(service, method, { taskId }, { key: given, ...withTasks })).body;
}

/** Waits for the end of the execution, then reads the task. */
async function endedTask(task: { taskId: string; _meta: { statusUrl: string } }) {
  const path = new URL(task._meta.statusUrl).pathname;
  for (;;) {
    const { body } = await service.call('GET', `${path}?wait=20`, { key });
    if (body.status !== 'processing') return (await send('tasks/get', task.taskId)).result;
  }
}

test('answers with a task whose id is that of the execution, after the commit', async () => {
  const held = service.models.hold();
  const task = await start('greeter', { name: 'Ada' });
  assert.equal(task.resultType, 'task');
  assert.equal(task.status, 'working');
  assert.equal(task.ttlMs, null);
  assert.ok(Number.isInteger(task.pollIntervalMs));
  const record = await service.call('GET', `${greeter.path}/executions/${task.taskId}`, { key });
  assert.equal(record.status, 200);
  assert.equal(record.body.executedAt, task.createdAt);
  const working = (await send('tasks/get', task.taskId)).result;
  assert.equal(working.status, 'working');
  assert.equal(working.resultType, 'complete');
  assert.equal(working.createdAt, task.createdAt);
  assert.equal(working.result, undefined);
  held.release();
  const ended = await endedTask(task);
  assert.equal(ended.status, 'completed');
  assert.equal(ended.result.content[0].text, 'Hello Ada');
});

test('answers without a task to a client that does not know them', async () => {
  const { body } = await modern(service, 'tools/call', hello, { key });
  assert.equal(body.result.resultType, 'complete');
  const earlier = await legacy(service, 'tools/call', { ...hello, task: {} }, { key });
  assert.equal(earlier.body.result.content[0].text, 'Hello Ada');
  assert.equal(
    (await legacy(service, 'tasks/get', { taskId: 'x' }, { key })).body.error.code,
    -32601,
  );
});

test('asks for the capability on requests about tasks', async () => {
  const { taskId } = await start('greeter', { name: 'Ada' });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const { status, body } = await modern(service, method, { taskId }, { key });
    assert.equal(status, 400);
    assert.equal(body.error.code, -32021);
  }
});

test('completes the task of a failed execution with an error', async () => {
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'Filtered.'));
  const ended = await endedTask(await start('greeter', { name: 'Ada' }));
  assert.equal(ended.status, 'completed');
  assert.equal(ended.result.isError, true);
});

test('cancels the execution of a task', async () => {
  const held = service.models.hold();
  const task = await start('greeter', { name: 'Ada' });
  const call = await held.arrived;
  assert.equal((await send('tasks/cancel', task.taskId)).result.resultType, 'complete');
  const ended = await endedTask(task);
  assert.equal(ended.status, 'cancelled');
  assert.equal(ended.result, undefined);
  await new Promise<void>((resolve) => {
    if (call.signal.aborted) return resolve();
    call.signal.addEventListener('abort', () => resolve());
  });
  // A task that has ended is acknowledged too, and stays as it is.
  assert.ok((await send('tasks/cancel', task.taskId)).result);
  assert.ok((await send('tasks/update', task.taskId)).result);
});

test('shows a task to the key that started it, and to keys with read', async () => {
  const { taskId } = await start('greeter', { name: 'Ada' });
  const keys = {
    executor: await service.key({ permissions: ['execute'] }),
    reader: await service.key({ permissions: ['execute', 'read'] }),
  };
  const elsewhere = await service.workspace();
  const foreign = await service.key({
    userId: elsewhere.ownerId,
    workspaceId: elsewhere.workspaceId,
  });
  assert.ok((await send('tasks/get', taskId, keys.reader.key)).result);
  for (const given of [keys.executor.key, foreign.key]) {
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      assert.equal((await send(method, taskId, given)).error.code, -32602);
    }
  }
  // Reading is not enough to cancel what another key started.
  assert.match((await send('tasks/cancel', taskId, keys.reader.key)).error.message, /"cancel"/);
  for (const unknown of ['exe_nonsense', taskId.replace('exe_', 'agt_'), '']) {
    assert.equal((await send('tasks/get', unknown)).error.code, -32602);
  }
});

test('shows and cancels what an own key started, without the permissions to read and cancel', async () => {
  const own = await service.key({ permissions: ['execute'] });
  const held = service.models.hold();
  const { body } = await modern(service, 'tools/call', hello, { key: own.key, ...withTasks });
  const { taskId } = body.result;
  await held.arrived;
  assert.equal((await send('tasks/get', taskId, own.key)).result.status, 'working');
  assert.ok((await send('tasks/cancel', taskId, own.key)).result);
  assert.equal((await endedTask(body.result)).status, 'cancelled');
});

test('answers a refused call without a task', async () => {
  const result = await start('greeter', {});
  assert.equal(result.resultType, 'complete');
  assert.equal(result.isError, true);
});

test('gives the task of a workflow the id of its run', async () => {
  const definition = {
    steps: [{ name: 'greet', agentId: greeter.agentId, variables: { name: 'Ada' } }],
    output: '{{steps.greet.output}}',
  };
  await makeWorkflow(service, definition, { slug: 'flow' });
  const task = await start('flow', {});
  assert.match(task.taskId, /^wfr_/);
  const ended = await endedTask(task);
  assert.equal(ended.status, 'completed');
  assert.equal(ended.result.content[0].text, 'Hello Ada');
  const held = service.models.hold();
  const other = await start('flow', {});
  await held.arrived;
  assert.ok((await send('tasks/cancel', other.taskId)).result);
  assert.equal((await endedTask(other)).status, 'cancelled');
});
