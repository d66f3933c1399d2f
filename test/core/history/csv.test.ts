import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCsvLine } from '../../../harness/csv.ts';
import { csvLine } from '../../../src/core/history/csv.ts';

test('quotes only texts that need it; null is an empty cell', () => {
  assert.equal(csvLine([1, 0.5, true, null, 'a b', '']), '1,0.5,true,,a b,\r\n');
  assert.equal(csvLine(['a,b', 'say "hi"', 'two\nlines']), '"a,b","say ""hi""","two\nlines"\r\n');
});

test('a cell never starts as a spreadsheet formula', () => {
  for (const text of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '＋1',
    '－1',
    '＠SUM(A1)',
  ]) {
    assert.match(csvLine([text]), /^"?'/);
  }
  assert.equal(csvLine(['=cmd|"/c calc"!A1']), `"'=cmd|""/c calc""!A1"\r\n`);
});

test('texts round-trip, except for the apostrophe before a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (texts) => {
      const read = readCsvLine(csvLine(texts));
      assert.deepEqual(
        read,
        texts.map((text) => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)),
      );
    }),
  );
});
