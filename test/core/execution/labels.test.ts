import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExecuteBody } from '../../../src/core/agent/variables.ts';
import { compact, members } from '../../../src/core/json.ts';
import {
  metadataMax,
  metadataNameMax,
  metadataValueMax,
  readLabels,
  sessionMax,
  tagMax,
  tagsMax,
  userMax,
} from '../../../src/core/labels.ts';

function problemWith(fields: object): string | null {
  const labels = readLabels(members(compact(JSON.stringify(fields))));
  return labels !== null && 'problem' in labels ? labels.problem : null;
}

/** Characters, not UTF-16 units: each of these has two. */
const text = (length: number) => '\u{1f642}'.repeat(length);
const listOf = (length: number) => Array.from({ length }, (_, at) => `tag ${at}`);
const objectOf = (length: number, name = 'n', value = 'v') =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`${at || ''}${name}`, value]));

test('labels may be as long as their limits, and no longer', () => {
  const cases: [name: string, max: number, fields: (length: number) => object][] = [
    ['user', userMax, (length) => ({ user: text(length) })],
    ['session', sessionMax, (length) => ({ session: text(length) })],
    ['tags', tagsMax, (length) => ({ tags: listOf(length) })],
    ['tags', tagMax, (length) => ({ tags: [text(length)] })],
    ['metadata', metadataMax, (length) => ({ metadata: objectOf(length) })],
    ['metadata', metadataNameMax, (length) => ({ metadata: objectOf(1, text(length)) })],
    ['metadata', metadataValueMax, (length) => ({ metadata: objectOf(1, 'n', text(length)) })],
  ];
  for (const [name, max, fields] of cases) {
    assert.equal(problemWith(fields(max)), null, `${name}: ${max}`);
    assert.match(problemWith(fields(max + 1)) ?? '', RegExp(`^Field "${name}" must .*${max} `));
  }
});

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
  test(`rejects ${problem}`, () => {
    const body = parseExecuteBody(`{"variables":{},"${field}":${text}}`);
    assert.equal(body.kind, 'invalid');
    assert.match(body.kind === 'invalid' ? body.message : '', new RegExp(`"${field}"`));
  });
}
