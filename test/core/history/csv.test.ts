import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCsvLine } from '../../../harness/csv.ts';
import { csvLine, spreadsheetLine } from '../../../src/features/history/rules/csv.ts';

test('quotes every text, and nothing else', () => {
  assert.equal(csvLine([1, -0.5, true, null, 'a b', '']), '1,-0.5,true,,"a b",""\r\n');
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
    assert.match(csvLine([text]), /^"'/);
    assert.match(spreadsheetLine([text]), /^"'/);
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

test('only for spreadsheets, formula signs after a separator in a cell are guarded', () => {
  const cases = [
    ['a;=1', "a;'=1"],
    ['a\t+1', "a\t'+1"],
    ['a\n-1\r\n@b\r＝c', "a\n'-1\r\n'@b\r'＝c"],
    ['a;"=1', `a;"'=1`],
    ['a; =1', "a; '=1"],
    [';=1;=2', ";'=1;'=2"],
    ['=1;=2', "'=1;'=2"],
    ['a=1; b', 'a=1; b'],
    ['a,=1 -2', 'a,=1 -2'],
  ] as const;
  for (const [text, guarded] of cases) {
    assert.deepEqual(readCsvLine(spreadsheetLine([text])), [guarded]);
    const plain = text.startsWith('=') ? `'${text}` : text;
    assert.deepEqual(readCsvLine(csvLine([text])), [plain]);
  }
});

test('split at any separator, quotes or not, no part of a spreadsheet line begins a formula', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=+-@;"\t\r\n ,a') });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (texts) => {
      for (const part of spreadsheetLine(texts)
        .split(/[;\t\r\n]/)
        .slice(1)) {
        assert.doesNotMatch(part, /^["\s]*[=+\-@]/);
      }
    }),
  );
});
