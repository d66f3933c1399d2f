import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSearch } from '../../../src/core/history/search.ts';

/** The parsed search, with every phrase in brackets. */
function shown(text: string): string {
  return readSearch(text)
    .map((phrases) =>
      phrases.map(({ words, excluded }) => `${excluded ? '-' : ''}[${words.join(' ')}]`).join(' '),
    )
    .join(' or ');
}

function assertParsed(cases: readonly (readonly [text: string, read: string])[]): void {
  for (const [text, read] of cases) assert.equal(shown(text), read, text);
}

test('words, phrases, alternatives and exclusions', () => {
  assertParsed([
    ['tide', '[tide]'],
    ['  high  tide ', '[high] [tide]'],
    ['"high tide" noon', '[high tide] [noon]'],
    ['"high tide', '[high tide]'],
    ['low"high tide"noon', '[low] [high tide] [noon]'],
    ['tide or noon', '[tide] or [noon]'],
    ['a b OR c d', '[a] [b] or [c] [d]'],
    ['tide -low', '[tide] -[low]'],
    ['-"low water" tide', '-[low water] [tide]'],
    ['a -or b', '[a] -[or] [b]'],
  ]);
});

test('"or" without two operands is a word', () => {
  assertParsed([
    ['or', '[or]'],
    ['or tide', '[or] [tide]'],
    ['tide or', '[tide] [or]'],
    ['tide or or noon', '[tide] or [or] [noon]'],
    ['tide "or" noon', '[tide] [or] [noon]'],
  ]);
});

test('text with punctuation is a phrase; punctuation alone is ignored', () => {
  assertParsed([
    ['example.com', '[example com]'],
    ['A-1017', '[A 1017]'],
    ['-A-1017', '-[A 1017]'],
    ['src/main.ts,', '[src main ts]'],
    ['"quick brown-fox"', '[quick brown fox]'],
    ['id=7 v1.2.3', '[id 7] [v1 2 3]'],
    ['(tide or "noon")', '[tide] or [noon]'],
    ['high - tide', '[high] [tide]'],
    ['--verbose', '[verbose]'],
    ['tide or ---', '[tide] [or]'],
    ['“quick”—brown’s', '[quick brown s]'],
    ["don't", '[don t]'],
    ['Größe naïve 日本語。東京', '[Größe] [naïve] [日本語 東京]'],
    ['👩\u200d🚀', '[👩\u200d🚀]'],
  ]);
  for (const text of ['', ' ', '-', '---', '""', '"...', '-"" , "!?"', '\0\t\u00a0']) {
    assert.deepEqual(readSearch(text), [], text);
  }
});

test('any input parses into words without ASCII punctuation', () => {
  const some = fc.array(fc.constantFrom('a', 'or', '"', '-', ' ', '.', '\\', '[', '(', 'é', '\0'));
  const typed = fc.oneof(
    fc.string({ unit: 'binary' }),
    some.map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(typed, (text) => {
      for (const phrases of readSearch(text)) {
        assert.ok(phrases.length > 0);
        for (const { words } of phrases) {
          assert.ok(words.length > 0);
          for (const word of words) assert.match(word, /^[^\0-/:-@[-`{-\x7f]+$/);
        }
      }
    }),
  );
});
