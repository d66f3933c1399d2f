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
    ['in one another', `${'['.repeat(many)}${']'.repeat(many)}`],
    ['behind a text with quotes', `["\\"\\\\",${'0,'.repeat(many)}0]`],
    ['behind nothing', `[${' '.repeat(many)}${'0,'.repeat(many)}0]`],
    ['where the end is missing', `[${'0,'.repeat(many)}`],
  ];
  for (const [what, text] of cases) test(what, () => assert.equal(tooMany(text), true));
});

describe('few values', () => {
  const cases: [string, string][] = [
    ['with a long text', `{"a":"${',[{'.repeat(many)}"}`],
    ['with a text full of quotes', JSON.stringify({ a: '",'.repeat(many) })],
    ['with a text that ends in backslashes', JSON.stringify({ a: ','.repeat(many), b: ',\\' })],
    ['with a text that does not end', `["${','.repeat(many)}`],
    ['that are as many as may be', `[${'0,'.repeat(many - 2)}0]${' '.repeat(many)}`],
    ['far apart', `{"a":1,${' '.repeat(many)}"b":2}`],
    ['that are none', ''],
  ];
  for (const [what, text] of cases) test(what, () => assert.equal(tooMany(text), false));
});
