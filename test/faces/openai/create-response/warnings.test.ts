import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, deployed } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

/** What a schema that a call brings does not check is in the record. */

const service = await startService();
after(service.close);
const { key } = await service.key();
await deployed(service, { user: '{{q}}' }, { agentName: 'One' });
await conversationAgent(service, { agentName: 'Many' });

/** Lookarounds as Zod and Pydantic write them. */
const email = '^(?!\\.)(?!.*\\.\\.)[a-z]+@[a-z]+$';
const schema = {
  type: 'object',
  properties: {
    mail: { type: 'string', format: 'email', pattern: email },
    code: { type: 'string', pattern: '^(?=.*\\d).+$' },
    list: { type: 'array', items: { type: 'string', pattern: '(a)\\1' } },
  },
};
const output = { code: 'none', list: ['x'] };

const calls = {
  'text.format': {
    path: '/v1/responses',
    body: { input: 'x', text: { format: { type: 'json_schema', name: 'a', schema } } },
  },
  response_format: {
    path: '/v1/chat/completions',
    body: {
      messages: [{ role: 'user', content: 'x' }],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    },
  },
} as const;

async function recordOf(id: string, as = key) {
  const { body: agents } = await service.call('GET', '/api/v1/executions?limit=1', { key });
  const { agentId } = agents.executions[0];
  return (await service.call('GET', `/api/v1/agents/${agentId}/executions/${id}`, { key: as }))
    .body;
}

for (const [field, { path, body }] of Object.entries(calls)) {
  for (const model of ['one', 'many']) {
    test(`${field} of ${model}`, async () => {
      service.models.script({ text: JSON.stringify(output) });
      const { status, body: answer } = await service.call('POST', path, {
        key,
        body: { model, ...body },
      });
      assert.equal(status, 200, JSON.stringify(answer));
      const record = await recordOf(answer.id);
      assert.deepEqual(record.outputJson, output);
      assert.equal(record.warnings.length, 2);
      for (const [at, place] of ['/properties/code', '/properties/list/items'].entries()) {
        assert.ok(
          record.warnings[at].startsWith(`Field "${field}.schema" has a pattern at ${place}`),
          record.warnings[at],
        );
        assert.match(record.warnings[at], /is not checked/);
      }
    });
  }
}

test('while it runs, in no list, and only for keys that read', async () => {
  const executing = await service.key({ permissions: ['execute'] });
  const waiting = service.models.hold();
  const { path, body } = calls['text.format'];
  const { body: running } = await service.call('POST', path, {
    key: executing.key,
    body: { model: 'one', ...body, background: true },
  });
  await waiting.arrived;
  const { body: list } = await service.call(
    'GET',
    '/api/v1/executions?include=processing&limit=1',
    { key },
  );
  assert.equal(list.executions[0].executionId, running.id);
  assert.equal(list.executions[0].warnings, undefined);
  const { agentId } = list.executions[0];
  const status = `/api/v1/agents/${agentId}/executions/${running.id}`;
  assert.equal((await service.call('GET', status, { key })).body.warnings.length, 2);
  const own = await service.call('GET', status, { key: executing.key });
  assert.equal(own.body.status, 'processing');
  assert.equal(own.body.warnings, undefined);
  waiting.release();
});

test('a schema that checks everything has none', async () => {
  const plain = { type: 'object', properties: { a: { type: 'string', pattern: '^a+$' } } };
  for (const format of [
    { type: 'json_schema', name: 'a', schema: plain },
    { type: 'json_object' },
  ]) {
    service.models.script({ text: '{}' });
    const { body } = await service.call('POST', '/v1/responses', {
      key,
      body: { model: 'one', input: 'x', text: { format } },
    });
    assert.equal((await recordOf(body.id)).warnings, undefined);
  }
});
