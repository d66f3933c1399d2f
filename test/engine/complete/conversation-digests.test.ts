import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../src/core/agent/messages.ts';
import { messageDigests } from '../../../src/engine/complete/conversation-digests.ts';

const question: Message = { role: 'user', content: 'Weather?' };
const called = (given: unknown, more: object = {}): Message => ({
  ...{ role: 'assistant', content: '', toolCalls: [{ id: 'call_0', name: 'f', arguments: given }] },
  ...more,
});
const answered: Message = { role: 'tool', toolCallId: 'call_0', content: 'Sun' };
const photo = (value: string): Message => ({
  role: 'user',
  content: [{ text: 'Weather?' }, { image: { variable: 'photo', value } }],
});

async function digest(messages: readonly Message[], workspaceId = 'w'): Promise<string> {
  const last = (await messageDigests(workspaceId, messages)).at(-1);
  return last?.digest ?? '';
}

test('each message with calls has a digest, which is the same in a longer conversation', async () => {
  const first = [question, called({})];
  const second = [...first, answered, called({})];
  const all = await messageDigests('w', [...second, answered]);
  assert.deepEqual(
    all.map(({ index }) => index),
    [1, 3],
  );
  assert.deepEqual(
    all.map((one) => one.digest),
    [await digest(first), await digest(second)],
  );
  assert.notEqual(all[0]?.digest, all[1]?.digest);
  assert.deepEqual(await messageDigests('w', [question]), []);
});

test('what clients send in several forms is the same', async () => {
  const expected = await digest([question, called({ a: 1, b: [{ c: 2, d: 'x' }] })]);
  const [reasoning, toolCalls] = [
    [{ text: 'Hm.' }],
    [{ id: 'call_0', name: 'f', arguments: '{"b":[{"d":"x","c":2}],"a":1.0}', extraContent: {} }],
  ];
  const content = [{ text: 'Weather?' }];
  for (const messages of [
    [question, called('{ "b": [{ "d": "x", "c": 2 }], "a": 1 }')],
    [{ role: 'user', content } as const, called(null, { reasoning, toolCalls, content: ' ' })],
  ]) {
    assert.equal(await digest(messages), expected);
  }
});

test('any other workspace, message, file or call is another conversation', async () => {
  const digests = [
    await digest([question, called({})]),
    await digest([question, called({})], 'another'),
    await digest([question, called({ a: 1 })]),
    await digest([question, called('{"a":')]),
    await digest([question, called({}, { content: 'Let me see.' })]),
    await digest([{ ...question, role: 'system' }, called({})]),
    await digest([question, question, called({})]),
    await digest([photo('https://a.example/1.png'), called({})]),
    await digest([photo('https://a.example/2.png'), called({})]),
    await digest([called({})]),
  ];
  assert.equal(new Set(digests).size, digests.length);
});

test('arguments that are nested deeply are compared as they are', async () => {
  const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  assert.equal(await digest([called(deep)]), await digest([called(deep)]));
});

test('others have their turn in a long conversation', async () => {
  const parts = 10;
  let turns = 0;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const long = { role: 'user', content: 'x'.repeat(65_536) } as const;
  await messageDigests('w', [...Array.from({ length: parts }, () => long), called({})]);
  clearImmediate(next);
  assert.ok(turns >= parts - 1, `${turns}`);
});
