import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanName, namePattern, optionalNamePattern } from '../../../src/core/people/name.ts';

const name = new RegExp(namePattern, 'u');
const optionalName = new RegExp(optionalNamePattern, 'u');

const names = [
  'Ada',
  ' Ada Lovelace ',
  '山田 太郎',
  'محمد',
  'שלום',
  '👩‍💻',
  'a\u200Bb',
  '\u200Fשלום',
  '٣',
  'é',
  'e\u0301',
  '-',
];
const controls = ['\0', '\n', '\r', '\t', '\x1B', '\x7F', '\x85', '\u2028', '\u2029'];
const reordering = [...'\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069'];
const invisible = [
  ' ',
  '\u00A0',
  '\u00AD',
  '\u034F',
  '\u061C',
  '\u115F',
  '\u180E',
  '\u200B',
  '\u200D',
  '\u200E',
  '\u2060',
  '\u2063',
  '\u2800',
  '\u3000',
  '\u3164',
  '\uFE0F',
  '\uFEFF',
  '\uFFA0',
  '\u{1D173}',
  '\u{E0041}',
];

test('names of every script, with joiners and marks', () => {
  for (const one of names) {
    assert.match(one, name);
    assert.match(one, optionalName);
  }
});

test('no control character, line break, override or isolate anywhere', () => {
  for (const one of [...controls, ...reordering]) {
    for (const text of [one, `Ada${one}`, `${one}Ada`, `A${one}da`]) {
      assert.doesNotMatch(text, name, JSON.stringify(text));
      assert.doesNotMatch(text, optionalName, JSON.stringify(text));
    }
  }
});

test('not only invisible characters', () => {
  for (const one of [...invisible, invisible.join('')]) {
    assert.doesNotMatch(one, name, JSON.stringify(one));
    assert.doesNotMatch(one, optionalName, JSON.stringify(one));
    assert.match(`${one}x`, name);
  }
  assert.doesNotMatch('', name);
  assert.match('', optionalName);
});

test('a reported name is cleaned, or replaced if nothing remains', () => {
  assert.equal(cleanName('Ada\u202E \n', 'a@example.com'), 'Ada');
  assert.equal(cleanName('\u200B\n', 'a@example.com'), 'a@example.com');
  assert.equal(cleanName('', 'a@example.com'), 'a@example.com');
});
