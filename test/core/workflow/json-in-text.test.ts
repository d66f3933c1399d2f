import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneJsonIn, wholeJson } from '../../../src/core/json-in-text.ts';

const object = '{"kind":"a"}';
const fence = '```';

test('the one object or array is found, whatever a model writes around it', () => {
  for (const text of [
    object,
    ` {"kind": "a"}\n`,
    `<think>Maybe {"kind":"b"}? Or [1, {</think>\n${object}`,
    `<THINK>one</THINK><think>two</think>${object}`,
    `It is {"kind":"b"} or not.</think>${object}`,
    `<reasoning>x</reasoning>Here you are:\n${object}\nDoes that help?`,
    `Sure: ${object}`,
    `${object} is the answer.`,
    `${fence}json\n${object}\n${fence}`,
    `${fence}JSON\r\n${object}\r\n${fence}\n`,
    `${fence}json ${object}${fence}`,
    `${fence}${object}${fence}`,
    `Sure!\n\n${fence}json\n${object}\n${fence}\n\nIt is "a".`,
    `<answer>${object}</answer>`,
    `From pages [1-3] and {name}: ${object}`,
    `\uFEFF${object}`,
  ]) {
    const found = oneJsonIn(text);
    assert.equal(found.kind === 'json' && found.json, object, text);
  }
  const tagged = { kind: 'json', json: '{"html":"</think>"}', whole: false };
  assert.deepEqual(oneJsonIn('Sure: {"html":"</think>"}'), tagged);
});

test('without exactly one, nothing is found', () => {
  for (const text of [
    'Sorry, I cannot help.',
    '',
    'null',
    '5',
    '"{}"',
    '{"kind":"a"',
    // A part of what was cut off or is broken is not the reply.
    '{"kind":"a","of":{"b":1}',
    '{"kind":"a","of":[{"b":1} {"b":2}]}',
    `{kind: 'a', of: {"b":1}}`,
    `{"kind": a} see [1]`,
    `<think>Still thinking about ${object}`,
    `[${object}, ...]`,
  ]) {
    assert.equal(oneJsonIn(text).kind, 'none', text);
  }
  assert.equal(oneJsonIn(`${object} or ${object}`).kind, 'several');
  assert.equal(oneJsonIn(`[1] ${object}`).kind, 'several');
});

test('a text is JSON as a whole only without words around it', () => {
  assert.equal(wholeJson(`<think>x</think> ${fence}json [1, 2] ${fence}`), '[1,2]');
  assert.equal(wholeJson(`${fence}\n5\n${fence}`), '5');
  assert.equal(wholeJson('As said in [1].'), null);
});

test('long texts are read in linear time', (t) => {
  const parse = t.mock.method(JSON, 'parse');
  for (const text of [
    '<think></think>'.repeat(200_000),
    `${' '.repeat(2_000_000)}<think`,
    '['.repeat(2_000_000),
    '[1x]'.repeat(500_000),
    '{"a":"\\'.repeat(300_000),
    '</think>{"'.repeat(300_000),
  ]) {
    assert.equal(oneJsonIn(text).kind, 'none');
  }
  assert.ok(parse.mock.callCount() < 2_000);
});
