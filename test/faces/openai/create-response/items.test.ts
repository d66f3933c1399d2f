import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { addAgent } from '../../../../harness/agents.ts';
import { conversationAgent } from '../../../../harness/openai-agents.ts';
import { move } from '../../../../harness/prompts.ts';
import { addRecords, dayMs } from '../../../../harness/records.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { itemId } from '../../../../src/faces/openai/response-wire.ts';
import { referencedResponsesMax } from '../../../../src/http/contract/contract-limits.ts';

/** Items that a request names by their identifiers, as clients do that leave the storing of a conversation to the server. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const many = await conversationAgent(service, { agentName: 'Many', allowTools: true });

const hi = { role: 'user', content: 'Hi' };
const tool = { type: 'function', name: 'find' };

async function create(input: unknown, as = key) {
  const body = { model: 'many', input, tools: [tool] };
  return service.call('POST', '/v1/responses', { key: as, body });
}

const lastMessages = () => service.models.calls.at(-1)?.messages?.slice(-3);

test('the text and the calls of an earlier response', async () => {
  service.models.script({
    text: 'I look.',
    toolCalls: [{ id: 'call_1', name: 'find', arguments: { q: 'tides' } }],
  });
  const { body: first } = await create([hi]);
  const references = first.output.map(({ id }: { id: string }, at: number) =>
    // A type may be left out.
    at === 0 ? { id } : { type: 'item_reference', id },
  );
  const result = { type: 'function_call_output', call_id: 'call_1', output: 'found' };
  const { status, body } = await create([hi, ...references, result]);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(lastMessages(), [
    { role: 'user', content: 'Hi' },
    {
      ...{ role: 'assistant', content: 'I look.' },
      toolCalls: [{ id: 'call_1', name: 'find', arguments: { q: 'tides' } }],
    },
    { role: 'tool', toolCallId: 'call_1', content: 'found' },
  ]);
});

test('what was sent, with its files, and a request that is long', async () => {
  const image = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'input_text', text: 'What?' },
    { type: 'input_image', image_url: image },
  ];
  const { body: first } = await create([{ role: 'user', content }]);
  const { body: items } = await service.call('GET', `/v1/responses/${first.id}/input_items`, {
    key,
  });
  const reference = { type: 'item_reference', id: items.data[0].id };
  const { status, body } = await create([reference, { ...hi, content: 'x'.repeat(20_000) }]);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(lastMessages()?.[1], {
    role: 'user',
    content: [{ text: 'What?' }, { image: { variable: 'history', value: image } }],
  });
});

test('only of responses that have ended and that the key may read', async () => {
  const { body: first } = await create([hi]);
  const [{ id }] = first.output;
  const executing = await service.key({ permissions: ['execute'] });
  const stranger = await service.workspace();
  const foreign = await service.key({ ...stranger, userId: stranger.ownerId });
  await addAgent(service, { ...stranger, createdBy: stranger.ownerId, slug: 'many' });
  const waiting = service.models.hold();
  const { body: running } = await service.call('POST', '/v1/responses', {
    key,
    body: { model: 'many', input: [hi], background: true },
  });
  for (const [name, as] of [
    [id, executing.key],
    [id, foreign.key],
    [id.replace('msg', 'fc'), key],
    [running.id.replace('exe', 'msg'), key],
    ['msg_nothing', key],
    ['__proto__', key],
  ] as const) {
    const { status, body } = await create([hi, { type: 'item_reference', id: name }], as);
    assert.deepEqual(
      [status, body.error.code, body.error.param],
      [400, 'invalid_value', 'input[1]'],
      name,
    );
    assert.match(
      body.error.message,
      /no item of a response that has ended and that this key may read/,
    );
    assert.match(body.error.message, /"store" to false/);
  }
  waiting.release();
  // A key reads what it started.
  const { body: own } = await create([hi], executing.key);
  const { status } = await create([hi, { id: own.output[0].id }], executing.key);
  assert.equal(status, 200);
});

test('a record that has lost its bodies has no items', async () => {
  await conversationAgent(service, { agentName: 'Bare', storeBodies: false });
  const agentId = fromId('agent', many.agentId);
  assert.ok(agentId);
  const { body: bare } = await service.call('POST', '/v1/responses', {
    ...{ key, body: { model: 'bare', input: [hi] } },
  });
  const old = { agentId, workspaceId: service.workspaceId, status: 'success' } as const;
  const [oldId = ''] = await addRecords(service.db, [{ ...old, atMs: Date.now() - 8 * dayMs }]);
  const ids = [bare.output[0].id, itemId('msg', oldId)];
  for (const id of ids) assert.equal((await create([{ id }, hi])).status, 200);
  await sql`update agents set bodies_days = 7 where id = ${agentId}`.execute(service.db);
  await sql`update transient_outputs set ended_at = ended_at - interval '15 minutes'`.execute(
    service.db,
  );
  await runRetentionRound(service.db, service.database);
  for (const id of ids) {
    const { status, body } = await create([hi, { id }]);
    assert.equal(status, 400, JSON.stringify(body));
    assert.ok(body.error.message.includes(id), body.error.message);
  }
});

test('at most so many responses', async () => {
  const input = Array.from({ length: referencedResponsesMax + 1 }, (_, n) => ({
    ...{ type: 'item_reference', id: `msg_01jd${String(n).padStart(22, '0')}` },
  }));
  const { status, body } = await create(input);
  assert.equal(status, 400);
  assert.match(body.error.message, /more than 100 responses/);
});

test('a call that is refused before its body looks nothing up', async (t) => {
  const { slug, ...closed } = await conversationAgent(service, { agentName: 'Closed' });
  const { body: first } = await create([hi]);
  const input = [{ id: first.output[0].id }, hi];
  const read = async (as: string, model = 'many') =>
    (await service.call('POST', '/v1/responses', { key: as, body: { model, input } })).status;
  // Agents that were called lately are expected to take the next call too.
  assert.equal(await read(key, slug), 200);
  await move(service, closed, 'disable');
  const limited = await service.key({ rateLimits: { requestsPerMinute: 0 } });
  const bound = await service.key({ agentIds: [closed.agentId] });
  const reading = await service.key({ permissions: ['read'] });
  const query = t.mock.method(pg.Client.prototype, 'query');
  const lookUps = () =>
    query.mock.calls.filter(({ arguments: [sent] }) =>
      (sent as { text?: string }).text?.includes('e.agent_id from all_executions'),
    );
  assert.equal(await read(limited.key), 429);
  assert.equal(await read(bound.key), 404);
  assert.equal(await read(reading.key), 403);
  assert.equal(await read(key, slug), 403);
  assert.equal(await read(key, 'unknown'), 404);
  assert.equal(lookUps().length, 0);
  assert.equal(await read(key), 200);
  assert.equal(lookUps().length, 1);
});
