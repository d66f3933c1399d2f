import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { jsonLines, namedLines, upload } from '../../../../harness/batches.ts';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { toId } from '../../../../src/core/id.ts';
import { ModelFailure, noCost } from '../../../../src/core/model/model-port.ts';

let testFails = false;
const service = await startService({
  async testConnection() {
    if (testFails) throw new ModelFailure('PROVIDER_AUTH', 'no', { cost: noCost });
  },
});
after(service.close);
const { call } = service;
const user = await service.member('owner');
const userId = toId('user', user);

interface Entry {
  readonly subject: string;
  readonly userId: string | null;
  readonly via: string | null;
  readonly details: Record<string, unknown>;
}

/** The entries of an action, oldest first. */
async function entries(action: string, owner = user): Promise<Entry[]> {
  const { body } = await call('GET', `/api/v1/audit?action=${action}&limit=100`, { user: owner });
  return body.audit.toReversed();
}

async function onlyEntry(action: string): Promise<Omit<Entry, 'via'>> {
  const [entry, ...more] = await entries(action);
  assert.deepEqual(more, [], action);
  assert.ok(entry, action);
  const { subject, userId: by, details, via } = entry;
  assert.equal(via, null);
  return { subject, userId: by, details };
}

test('prompts: create, change, version, archive, restore', async () => {
  const made = await call('POST', '/api/v1/prompts', { user, body: { name: 'Greeting' } });
  const { promptId: subject } = made.body;
  const path = `/api/v1/prompts/${subject}`;
  const content = { user: 'Hello {{name}}', model: 'cueline/echo' };
  const version = await call('POST', `${path}/versions`, { user, body: content });
  await call('PATCH', path, { user, body: { name: 'Greeting', description: 'Says hello.' } });
  for (const action of ['archive', 'archive', 'restore'])
    await call('POST', `${path}/${action}`, { user });

  const by = { subject, userId };
  const { promptVersionId, promptVersionLabel } = version.body;
  for (const [action, details] of Object.entries({
    'prompt.create': { name: 'Greeting' },
    'prompt.version': { promptVersionId, promptVersionLabel },
    'prompt.change': { fields: ['description'] },
    'prompt.archive': {},
    'prompt.restore': {},
  })) {
    assert.deepEqual(await onlyEntry(action), { ...by, details });
  }
});

test('prices and tests of providers', async () => {
  const model = 'own/large';
  const price = { model, inputPerMillion: '1.50', outputPerMillion: 2 };
  assert.equal((await call('PUT', '/api/v1/prices', { user, body: price })).status, 200);
  const put = await onlyEntry('price.put');
  assert.deepEqual([put.subject, put.userId], [model, userId]);
  assert.equal(put.details.outputPerMillion, '2');
  const path = `/api/v1/prices?model=${encodeURIComponent(model)}`;
  assert.equal((await call('DELETE', path, { user })).status, 204);
  assert.equal((await call('DELETE', path, { user })).status, 404);
  assert.deepEqual(await onlyEntry('price.delete'), { subject: model, userId, details: {} });

  const provider = { kind: 'openai', apiKey: 'sk-hidden' };
  await call('PUT', '/api/v1/providers/own', { user, body: provider });
  await call('POST', '/api/v1/providers/own/test', { user });
  testFails = true;
  await call('POST', '/api/v1/providers/own/test', { user });
  assert.deepEqual(
    (await entries('provider.test')).map(({ subject, details }) => ({ subject, details })),
    [
      { subject: 'own', details: { ok: true } },
      { subject: 'own', details: { ok: false, code: 'PROVIDER_AUTH' } },
    ],
  );
});

test('an export names its filters, not their values', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  await run(service, agent, key, { name: 'Ada' });
  const get = async (path: string) => {
    const response = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${key}` },
    });
    return (await response.text()).split('\n')[0] ?? '';
  };
  const path = `${agent.path}/executions/export`;
  const { executionId } = JSON.parse(await get(`${path}?variables.name=Ada`));
  // A continuation after the last record exports nothing.
  await get(`${path}?cursor=${executionId}`);
  await get('/api/v1/executions/export?format=csv&bom=true&status=success');
  await call('GET', '/api/v1/executions/export?limit=5', { key });

  const [one, all, ...more] = await entries('execution.export');
  assert.deepEqual(more, []);
  assert.equal(one?.subject, agent.agentId);
  assert.deepEqual(one?.details, { format: 'jsonl', filters: ['variables.name'] });
  assert.equal(all?.subject, toId('workspace', service.workspaceId));
  assert.deepEqual(all?.details, { format: 'csv', filters: ['status'] });
});

test('tests of endpoints, and events that are sent again', async () => {
  const pull = { url: 'https://shop.example/', eventTypes: ['key.revoked'] };
  const { body: endpoint } = await call('POST', '/api/v1/endpoints', { user, body: pull });
  const { endpointId: subject } = endpoint;
  const path = `/api/v1/endpoints/${subject}`;
  await call('POST', `${path}/test`, { user });
  const { body: list } = await call('GET', '/api/v1/events', { user });
  const { eventId } = list.events[0];
  await call('POST', `${path}/deliveries/${eventId}/resend`, { user });
  const body = { startDate: '2020-01-01', endDate: '2020-01-02', state: 'failed' };
  await call('POST', `${path}/replay`, { user, body });
  // What is refused changes nothing.
  await call('POST', `${path}/deliveries/${toId('event', crypto.randomUUID())}/resend`, { user });

  assert.deepEqual(await onlyEntry('endpoint.test'), { subject, userId, details: {} });
  assert.deepEqual(await onlyEntry('endpoint.resend'), { subject, userId, details: { eventId } });
  const { details } = await onlyEntry('endpoint.replay');
  assert.deepEqual(details, {
    ...{ state: 'failed', replayed: 0 },
    ...{ startDate: '2020-01-01T00:00:00.000Z', endDate: '2020-01-02T23:59:59.999Z' },
  });
});

test('uploads and cancellations of batches, once each', async () => {
  const agent = await addAgent(service);
  const { key, apiKeyId } = await service.key();
  const held = service.models.hold();
  const options = { key, idempotencyKey: 'one' };
  const { body } = await upload(service, agent, jsonLines(namedLines(1)), options);
  await upload(service, agent, jsonLines(namedLines(1)), options);
  await held.arrived;
  await call('POST', `${body.statusUrl}/cancel`, { key });
  await call('POST', `${body.statusUrl}/cancel`, { key });
  const details = { agentId: agent.agentId, lines: 1 };
  for (const action of ['batch.upload', 'batch.cancel']) {
    const { subject, ...entry } = await onlyEntry(action);
    assert.equal(subject, body.batchId);
    assert.deepEqual(entry.details, details);
    const [{ apiKeyId: by } = { apiKeyId: null }] = (
      await call('GET', `/api/v1/audit?action=${action}`, { user })
    ).body.audit;
    assert.equal(by, apiKeyId);
  }
});

test('sign-ins, failed sign-ins and password changes, in every workspace of the user', async () => {
  const { email, cookie, userId: member } = await service.signIn('viewer');
  const other = await service.workspace();
  const subject = toId('user', member);
  const about = async (action: string, owner = user) =>
    (await entries(action, owner)).filter((entry) => entry.subject === subject);
  const post = (path: string, body: unknown, extra = {}) =>
    send(service.url, 'POST', `/api/auth/${path}`, { body, origin: service.url, ...extra });

  const [created, ...none] = await about('session.create');
  assert.deepEqual(none, []);
  assert.equal(created?.userId, subject);
  assert.deepEqual(created?.details, { ipAddress: '127.0.0.1' });

  const wrong = { email: email.toUpperCase(), password: 'a wrong password' };
  assert.equal((await post('sign-in/email', wrong)).status, 401);
  await post('sign-in/email', { email: 'nobody@example.com', password });
  const [refused, ...no] = await about('session.refuse');
  assert.deepEqual(no, []);
  assert.deepEqual([refused?.userId, refused?.details], [null, { ipAddress: '127.0.0.1' }]);

  const change = (currentPassword: string) =>
    post('change-password', { currentPassword, newPassword: 'another password' }, { cookie });
  assert.equal((await change('a wrong password')).status, 400);
  assert.equal((await change(password)).status, 200);
  const [changed, ...others] = await about('password.change');
  assert.deepEqual(others, []);
  assert.deepEqual([changed?.userId, changed?.details], [subject, {}]);
  assert.equal((await about('session.create')).length, 1, 'a new password is no sign-in');
  assert.deepEqual(await about('session.create', other.ownerId), []);
});
