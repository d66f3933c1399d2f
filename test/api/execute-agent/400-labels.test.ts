import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Hello' });

const many = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);

for (const [problem, field, text] of [
  ['a number as user', 'user', '5'],
  ['null as user', 'user', 'null'],
  ['a long user', 'user', JSON.stringify('u'.repeat(129))],
  ['a NUL in the user', 'user', '"a\\u0000"'],
  ['a lone surrogate in the session', 'session', '"\\ud800"'],
  ['a long session', 'session', JSON.stringify('😀'.repeat(129))],
  ['tags as text', 'tags', '"beta"'],
  ['eleven tags', 'tags', JSON.stringify(many(11))],
  ['an empty tag', 'tags', '[""]'],
  ['a long tag', 'tags', JSON.stringify(['t'.repeat(65)])],
  ['a number as tag', 'tags', '[1]'],
  ['a NUL in a tag', 'tags', '["\\u0000"]'],
  ['a list as metadata', 'metadata', '[]'],
  ['a number in the metadata', 'metadata', '{"n":1}'],
  ['seventeen names', 'metadata', JSON.stringify(Object.fromEntries(many(17).map((n) => [n, n])))],
  ['a long name', 'metadata', JSON.stringify({ ['n'.repeat(65)]: '' })],
  ['a long value', 'metadata', JSON.stringify({ n: 'v'.repeat(513) })],
  ['a NUL in a name', 'metadata', '{"\\u0000":"x"}'],
  ['a lone surrogate in a value', 'metadata', '{"n":"\\udfff"}'],
] as const) {
  test(`rejects ${problem}`, async () => {
    const { status, body } = await service.call('POST', `${agent.path}/execute`, {
      key,
      body: `{"variables":{},"${field}":${text}}`,
    });
    assert.equal(status, 400);
    assert.equal(body.code, 'INVALID_REQUEST');
    assert.match(body.message, new RegExp(`"${field}"`));
  });
}

test('writes nothing', async () => {
  const { body } = await service.call('GET', `${agent.path}/executions?include=processing`, {
    key,
  });
  assert.equal(body.pagination.total, 0);
});
