import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Answer: {{text}}' });
const text =
  'quick Brown-Fox, user@example.com https://acme.io/path/page?id=7 src/main.ts order A-1017 x/y v1.2.3 -5\nnext line';
// In one record the text is also in the output, in the other only in the variables.
await run(service, agent, key, { text });
await run(service, agent, key, { text: 'nothing', note: text });
await run(service, agent, key, { text: 'other' });

const present = [
  ...['"quick brown"', 'brown', '"quick brown-fox"', 'brown-fox', 'fox', 'quick fox'],
  ...['user', 'example', 'example.com', 'user@example.com', 'acme', 'acme.io', 'path', 'page'],
  ...['https://acme.io/path/page?id=7', 'id=7', 'src', 'main', 'main.ts', 'src/main.ts'],
  ...['1017', 'A-1017', 'a-1017', '"order a-1017"', 'x', 'x/y', '1.2.3', 'v1.2.3', '5', 'next'],
  ...['"5 next line"', '(user or nobody)', 'user -nobody', 'acme & fox', 'nobody or main.ts'],
];
const absent = [
  ...['"quick fox"', 'example.org', 'main.js', 'A-101', 'y/x', '1.3', 'user -acme.io', 'nnext'],
  ...['-"quick brown-fox" user', 'bro', '...', '"- -"'],
];

async function total(q: string): Promise<number> {
  const path = `${agent.path}/executions?${new URLSearchParams({ q })}`;
  const { status, body } = await service.call('GET', path, { key });
  assert.equal(status, 200, q);
  assert.equal(body.executions.length, body.pagination.total);
  return body.pagination.total;
}

test('words and phrases are found despite punctuation', async () => {
  for (const q of present) assert.equal(await total(q), 2, q);
  for (const q of absent) assert.equal(await total(q), 0, q);
});

test('an export finds the same records', async () => {
  for (const [q, expected] of [
    ['example.com', 2],
    ['"brown fox" 1017', 2],
    ['-acme.io', 1],
    ['main.js', 0],
  ] as const) {
    const path = `${agent.path}/executions/export?${new URLSearchParams({ q })}`;
    const headers = { authorization: `Bearer ${key}` };
    const exported = await (await fetch(`${service.url}${path}`, { headers })).text();
    assert.equal(exported.split('\n').length - 1, expected, q);
  }
});
