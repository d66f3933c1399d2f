import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  metadataMax,
  metadataNameMax,
  metadataValueMax,
  readLabels,
  sessionMax,
  tagMax,
  tagsMax,
  userMax,
} from '../../../src/core/execution/labels.ts';
import { compact, members } from '../../../src/core/json.ts';

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
