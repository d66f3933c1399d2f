import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { openEvents, readEvents } from '../../../../harness/read-events.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { streamExecution } from '../../../../src/features/executions/contract/executions-contract.ts';
import { readStart } from '../../../../src/features/executions/routes/stream.ts';
import { checkQuery } from '../../../../src/http/request/validate.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const { executionId } = await run(service, agent, key);
const path = `${agent.path}/executions/${executionId}/stream`;

test('400 for a position that is none', async () => {
  for (const text of ['', '1', '1.', '.5', '1.5.2', '-1.5', 'a.b', '1.5 ', '1234567890.1']) {
    if (text !== '') assert.throws(() => readStart(text), { code: 'INVALID_REQUEST' }, text);
    const read = () => checkQuery(streamExecution.query, { after: text });
    assert.throws(read, { code: 'INVALID_REQUEST' }, text);
  }
  const headers = { 'last-event-id': 'x' };
  const { status, body } = await service.call('GET', path, { key, headers });
  assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  assert.match(body.message, /"attempt\.offset", such as "2\.1834"/);
});

test('404 for an execution of another agent', async () => {
  const other = await addAgent(service);
  const at = `${other.path}/executions/${executionId}/stream`;
  assert.equal((await service.call('GET', at, { key })).status, 404);
});

test('a key without read sees what came out of what it started', async () => {
  const { key: executes } = await service.key({ permissions: ['execute'] });
  service.models.script(async (_call, emit) => {
    emit({ type: 'reasoning', text: 'Hm.' });
    return { text: 'Hello' };
  });
  const events = await readEvents(`${service.url}${agent.path}/execute`, {
    key: executes,
    method: 'POST',
    body: { variables: { name: 'you' } },
  });
  const shown = events.map(({ event }) => event).filter((event) => event !== 'status');
  assert.deepEqual(shown, ['accepted', 'text', 'end']);
  const [end] = events.filter(({ event }) => event === 'end');
  assert.deepEqual([end?.data.output, end?.data.userPrompt], ['Hello', undefined]);
});

test('a key that is revoked meanwhile does not see the end', async () => {
  const { key: revoked, id } = await service.key();
  const held = service.models.hold();
  const accepted = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'you' } },
  });
  await held.arrived;
  const stream = await openEvents(`${service.url}${accepted.body.statusUrl}/stream`, {
    key: revoked,
  });
  await stream.until(({ event }) => event === 'status');
  const { status } = await service.call('POST', `/api/v1/keys/${toId('key', id)}/revoke`, { key });
  assert.equal(status, 200);
  held.release();
  await assert.rejects(stream.until(({ event }) => event === 'end'));
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.deepEqual(
    logged.map(({ msg }) => msg),
    ['stream aborted'],
  );
});
