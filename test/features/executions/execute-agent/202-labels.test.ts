import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'About {{topic}}', requiredVariables: ['topic'] });

const variables = { topic: 'tides' };
const labels = {
  user: 'customer-1',
  session: 'chat-1',
  tags: ['beta', 'check"out\\'],
  metadata: { plan: 'pro', 'a b': '' },
};

function execute(body: object | string, headers: Record<string, string> = {}, as = key) {
  return service.call('POST', `${agent.path}/execute`, { key: as, body, headers });
}

function labelsOf({ user, session, tags, metadata }: Record<string, unknown>) {
  return { user, session, tags, metadata };
}

const none = { user: undefined, session: undefined, tags: undefined, metadata: undefined };

test('records who an execution was for', async () => {
  const held = service.models.hold();
  const { body } = await execute({ variables, ...labels });
  const { body: processing } = await service.call('GET', body.statusUrl, { key });
  assert.equal(processing.status, 'processing');
  assert.deepEqual(labelsOf(processing), labels);
  held.release();
  assert.deepEqual(labelsOf(await ended(service, body.statusUrl, key)), labels);
  const { body: page } = await service.call('GET', `${agent.path}/executions`, { key });
  assert.deepEqual(labelsOf(page.executions[0]), labels);
});

test('a field that is not sent is absent, and so is an empty list or object', async () => {
  for (const [sent, recorded] of [
    [{}, none],
    [{ tags: [], metadata: {} }, none],
    [{ user: 'a' }, { ...none, user: 'a' }],
    [{ tags: ['x', 'y', 'x'] }, { ...none, tags: ['x', 'y'] }],
  ] as const) {
    const { body } = await execute({ variables, ...sent });
    const record = await ended(service, body.statusUrl, key);
    assert.deepEqual(labelsOf(record), recorded);
  }
});

test('the longest values are accepted, counted in characters', async () => {
  const longest = {
    user: '😀'.repeat(128),
    session: 's'.repeat(128),
    tags: Array.from({ length: 10 }, (_, n) => `${n}`.repeat(64)),
    metadata: Object.fromEntries(
      Array.from({ length: 16 }, (_, n) => [
        String.fromCharCode(97 + n).repeat(64),
        'é'.repeat(512),
      ]),
    ),
  };
  const { body } = await execute({ variables, ...longest });
  assert.deepEqual(labelsOf(await ended(service, body.statusUrl, key)), longest);
});

test('names of the metadata that mean something to JavaScript are data', async () => {
  const { body } = await execute('{"variables":{"topic":"x"},"metadata":{"__proto__":"y"}}');
  const record = await ended(service, body.statusUrl, key);
  assert.deepEqual(Object.entries(record.metadata as object), [['__proto__', 'y']]);
});

test('a session can send them too', async () => {
  const { cookie } = await service.signIn();
  const path = `/api/agents/${agent.agentId}/execute`;
  const headers = { cookie, origin: service.url };
  const { body } = await service.call('POST', path, { headers, body: { variables, ...labels } });
  const record = await ended(service, body.statusUrl, key);
  assert.deepEqual([record.source, labelsOf(record)], ['dashboard', labels]);
});

test('a refused call records them', async () => {
  const limited = await service.key({ rateLimits: { requestsPerMinute: 0 } });
  const { status } = await execute({ variables, ...labels }, {}, limited.key);
  assert.equal(status, 429);
  const query = `apiKeyId=${limited.apiKeyId}`;
  const { body } = await service.call('GET', `${agent.path}/executions?${query}`, { key });
  assert.deepEqual(body.executions.map(labelsOf), [labels]);
});

test('a key without read does not see them', async () => {
  const own = await service.key({ permissions: ['execute'] });
  const { body } = await execute({ variables, ...labels }, {}, own.key);
  const record = await ended(service, body.statusUrl, own.key);
  assert.equal(record.status, 'success');
  assert.deepEqual(labelsOf(record), none);
});

test('an idempotency key compares them', async () => {
  const sent = { variables, ...labels };
  const headers = { 'Idempotency-Key': 'labels' };
  const first = await execute(sent, headers);
  const again = await execute(
    { ...sent, metadata: { 'a b': '', plan: 'pro' }, variables: { topic: 'tides' } },
    headers,
  );
  assert.equal(again.status, 202);
  assert.equal(again.body.executionId, first.body.executionId);
  for (const other of [
    { user: 'customer-2' },
    { session: 'chat-2' },
    { tags: ['beta'] },
    { metadata: { plan: 'free', 'a b': '' } },
    { user: undefined },
    { variables: { topic: 'moons' } },
  ]) {
    const { status, body } = await execute({ ...sent, ...other }, headers);
    assert.deepEqual([status, body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
  }
});
