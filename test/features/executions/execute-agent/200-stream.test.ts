import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { openEvents, readEvents, textOfEvents } from '../../../../harness/read-events.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const url = `${service.url}${agent.path}/execute`;
const method = 'POST';
const body = { variables: { name: 'you', extra: 1 } };

test('an Accept that excludes streams gets JSON', async () => {
  for (const range of ['text/event-stream;q=0', 'text/event-stream; charset=utf-8; q=0.0;x=1']) {
    const accepted = await service.call('POST', `${agent.path}/execute`, {
      ...{ key, headers: { accept: `application/json, ${range}` } },
      body: { variables: { name: 'Ada' } },
    });
    assert.deepEqual([accepted.status, accepted.body.status], [202, 'processing']);
    // The tests below count calls of the model.
    await ended(service, accepted.body.statusUrl, key);
  }
});

describe('with Accept: text/event-stream', () => {
  test('sends what the 202 contains, then the events of the execution', async () => {
    const stream = await openEvents(url, { key, method, body });
    assert.equal(stream.status, 200);
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const events = await stream.until(() => false);
    const [accepted] = events;
    assert.equal(accepted?.event, 'accepted');
    const { executionId, statusUrl, ...rest } = accepted.data;
    assert.equal(stream.headers.get('location'), statusUrl);
    assert.deepEqual(rest, {
      ...{ success: true, agentId: agent.agentId, agentName: 'Agent', status: 'processing' },
      message: 'Accepted. Poll statusUrl for the result.',
      ignoredVariables: ['extra'],
    });
    const end = events.at(-1);
    assert.deepEqual([end?.event, end?.data.executionId], ['end', executionId]);
    assert.equal(textOfEvents(events), 'Hello you');
    assert.equal(service.models.calls.at(-1)?.stream, true);
  });

  test('a refusal is JSON with its status', async () => {
    const headers = { accept: 'text/event-stream' };
    const path = `${agent.path}/execute`;
    const missing = await service.call('POST', path, { key, headers, body: { variables: {} } });
    assert.deepEqual([missing.status, missing.body.missingVariables], [400, ['name']]);
    const { key: other } = await service.key({ permissions: ['read'] });
    assert.equal((await service.call('POST', path, { key: other, headers, body })).status, 403);
  });

  test('a replay streams the first execution', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await readEvents(url, { key, method, body, headers });
    const before = service.models.calls.length;
    const stream = await openEvents(url, { key, method, body, headers });
    assert.equal(stream.headers.get('idempotent-replayed'), 'true');
    const again = await stream.until(() => false);
    assert.equal(again[0]?.data.executionId, first[0]?.data.executionId);
    assert.deepEqual(
      again.slice(1).map(({ event }) => event),
      ['text', 'end'],
    );
    assert.equal(service.models.calls.length, before);
  });

  test('a replay for a key that does not see the agent any more is the plain 202', async () => {
    const user = await service.member('editor');
    const { key: theirs } = await service.key({ userId: user });
    const open = await addAgent(service);
    const options = { key: theirs, headers: { 'idempotency-key': 'hidden' } };
    const path = `${open.path}/execute`;
    const first = await service.call('POST', path, { ...options, body });
    await ended(service, first.body.statusUrl, key);
    const change = { key, body: { visibility: 'private' } };
    assert.equal((await service.call('PATCH', open.path, change)).status, 200);
    const headers = { ...options.headers, accept: 'text/event-stream' };
    const again = await service.call('POST', path, { key: theirs, headers, body });
    assert.deepEqual([again.status, again.body.executionId], [202, first.body.executionId]);
    assert.equal((await service.call('GET', first.body.statusUrl, { key: theirs })).status, 404);
  });

  test('a client that leaves changes nothing', async () => {
    const held = service.models.hold();
    const stream = await openEvents(url, { key, method, body });
    const [accepted] = await stream.until(({ event }) => event === 'accepted');
    await held.arrived;
    stream.close();
    held.release({ text: 'done' });
    assert.equal((await ended(service, accepted?.data.statusUrl, key)).outputText, 'done');
  });
});

describe('the response of the model is read as a stream', () => {
  const streams = async (config: object, more: object = {}) => {
    const one = await addAgent(service, { config });
    const accepted = await service.call('POST', `${one.path}/execute`, {
      key,
      body: { variables: { name: 'you' }, ...more },
    });
    await ended(service, accepted.body.statusUrl, key);
    return service.models.calls.at(-1)?.stream ?? false;
  };

  test('if the call or the agent asks for it', async () => {
    assert.equal(await streams({}), false);
    assert.equal(await streams({}, { stream: true }), true);
    assert.equal(await streams({ stream: true }), true);
    assert.equal(await streams({ stream: true }, { stream: false }), false);
  });

  test('and the setting is true or false', async () => {
    for (const stream of ['yes', 1, null]) {
      const path = `${agent.path}/execute`;
      const { status, body: problem } = await service.call('POST', path, {
        key,
        body: { ...body, stream },
      });
      assert.deepEqual([status, problem.message], [400, 'Field "stream" must be true or false.']);
    }
  });

  test('firstTextMs is the time of its first text', async () => {
    const record = await run(service, await addAgent(service, { config: { stream: true } }), key);
    assert.ok(record.firstTextMs <= record.latencyMs);
    assert.equal((await run(service, agent, key)).firstTextMs, undefined);
  });
});
