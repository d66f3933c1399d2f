import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasTooManyValues, responseValuesMax } from '../../src/net/response-limits.ts';

const many = responseValuesMax;
const tooMany = (text: string) => hasTooManyValues(new TextEncoder().encode(text));

describe('too many values', () => {
  const cases: [string, string][] = [
    ['in a list', `{"choices":[${'0,'.repeat(many)}0]}`],
    ['that are empty objects', `{"errors":[${'{},'.repeat(many / 2)}{}]}`],
    ['that are fields', `{${'"a":"b",'.repeat(many)}"a":"b"}`],
    ['that are nested', `${'['.repeat(many)}${']'.repeat(many)}`],
    ['after a text with quotes', `["\\"\\\\",${'0,'.repeat(many)}0]`],
    ['after whitespace', `[${' '.repeat(many)}${'0,'.repeat(many)}0]`],
    ['without an end', `[${'0,'.repeat(many)}`],
  ];
  for (const [what, text] of cases) test(what, () => assert.equal(tooMany(text), true));
});

describe('few values', () => {
  const cases: [string, string][] = [
    ['with a long text', `{"a":"${',[{'.repeat(many)}"}`],
    ['with a text full of quotes', JSON.stringify({ a: '",'.repeat(many) })],
    ['with a text that ends in backslashes', JSON.stringify({ a: ','.repeat(many), b: ',\\' })],
    ['with a text that does not end', `["${','.repeat(many)}`],
    ['exactly at the limit', `[${'0,'.repeat(many - 2)}0]${' '.repeat(many)}`],
    ['separated by whitespace', `{"a":1,${' '.repeat(many)}"b":2}`],
    ['in an empty body', ''],
  ];
  for (const [what, text] of cases) test(what, () => assert.equal(tooMany(text), false));
});
