import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { modernRequest, openCall, post } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
const second = await startService({ sharedWith: service });
after(async () => {
  await second.close();
  await service.close();
});
const { key } = await service.key();
const greeter = await addAgent(service, { slug: 'greeter' });
const bearer = { authorization: `Bearer ${key}` };
const params = {
  ...{ name: 'greeter', arguments: { name: 'Ada' } },
  _meta: { progressToken: 1 },
};

/** Starts a call whose model waits. */
async function startCall(
  era: 'modern' | 'legacy',
  { id = 1, headers = {} }: { id?: number; headers?: Record<string, string> } = {},
) {
  const held = service.models.hold();
  const modern = modernRequest('tools/call', params, { id });
  const call =
    era === 'modern'
      ? openCall(service, modern.message, { ...modern.headers, ...bearer, ...headers })
      : openCall(
          service,
          { jsonrpc: '2.0', id, method: 'tools/call', params },
          { 'mcp-protocol-version': '2025-11-25', ...bearer, ...headers },
        );
  const executionId = /exe_\w+/.exec(await call.accepted)?.[0];
  assert.ok(executionId);
  await held.arrived;
  return { call, held, path: `${greeter.path}/executions/${executionId}` };
}

async function endOf(path: string) {
  for (;;) {
    const { body } = await service.call('GET', `${path}?wait=20`, { key });
    if (body.status !== 'processing') return body.status;
  }
}

function cancelRequest(target: typeof service, requestId: unknown, headers = {}) {
  const notification = {
    ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
    params: { requestId },
  };
  return post(target, notification, { key, headers });
}

test('cancels the execution when a client of 2026-07-28 closes the response', async () => {
  const { call, path } = await startCall('modern');
  call.close();
  assert.equal(await endOf(path), 'canceled');
});

test('does not cancel a call with an idempotency key, whose result can be asked for again', async () => {
  const { call, held, path } = await startCall('modern', { headers: { 'idempotency-key': 'a' } });
  call.close();
  const other = await startCall('modern', { id: 2 });
  other.held.release();
  assert.equal(await endOf(other.path), 'success');
  held.release();
  assert.equal(await endOf(path), 'success');
});

test('does not cancel when the connection of an earlier client is lost', async () => {
  const { call, held, path } = await startCall('legacy');
  call.close();
  // Another call starts and ends before the model answers.
  const other = await startCall('legacy', { id: 2 });
  other.held.release();
  assert.equal(await endOf(other.path), 'success');
  held.release();
  assert.equal(await endOf(path), 'success');
});

test('cancels the execution of an earlier client with a notification', async () => {
  const agent = { 'user-agent': 'node' };
  const { call, path } = await startCall('legacy', { id: 7, headers: agent });
  assert.equal((await cancelRequest(service, 8, agent)).status, 202);
  assert.equal((await cancelRequest(service, 7, agent)).status, 202);
  assert.equal(await endOf(path), 'canceled');
  assert.match(
    await call.whole,
    /"code":"CANCELED".*Canceled: the execution was canceled before it ended\./,
  );
});

test('does not cancel by a request, which the protocol has not', async () => {
  const agent = { 'user-agent': 'node' };
  const { held, path } = await startCall('legacy', { id: 7, headers: agent });
  const message = { jsonrpc: '2.0', id: 9, method: 'notifications/cancelled' };
  await post(service, { ...message, params: { requestId: 7 } }, { key, headers: agent });
  held.release();
  assert.equal(await endOf(path), 'success');
});

test('finds the call in the process that waits for it', async () => {
  const agent = { 'user-agent': 'node' };
  const { path } = await startCall('legacy', { id: 7, headers: agent });
  assert.equal((await cancelRequest(second, 7, agent)).status, 202);
  assert.equal(await endOf(path), 'canceled');
});

test('cancels no call of another client or key, and none of two that look alike', async () => {
  const agent = { 'user-agent': 'one' };
  const first = await startCall('legacy', { id: 9, headers: agent });
  await cancelRequest(service, 9, { 'user-agent': 'two' });
  const other = await service.key();
  await cancelRequest(service, 9, { ...agent, authorization: `Bearer ${other.key}` });
  const twin = await startCall('legacy', { id: 9, headers: agent });
  await cancelRequest(service, 9, agent);
  for (const { held, path } of [first, twin]) {
    held.release();
    assert.equal(await endOf(path), 'success');
  }
});
