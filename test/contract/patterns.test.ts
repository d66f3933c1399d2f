import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionPaths } from '../../src/api/session-paths.ts';
import { endpoints } from '../../src/contract/index.ts';
import { patterns, wordsOf } from '../../src/contract/patterns.ts';

/** Every pattern in what is sent and held against its schema. */
function patternsIn(schema: object): string[] {
  return Object.entries(schema).flatMap(([word, inner]) => {
    if (word === 'pattern' && typeof inner === 'string') return [inner];
    return typeof inner === 'object' && inner !== null ? patternsIn(inner) : [];
  });
}

test('what is refused for its pattern is told in words what it must be', () => {
  const sent = [...Object.values(endpoints), ...Object.values(sessionPaths)].flatMap((one) => [
    ...('body' in one && one.body ? [one.body] : []),
    ...('query' in one && one.query ? [one.query] : []),
  ]);
  const found = new Set(sent.flatMap(patternsIn));
  assert.deepEqual(
    [...found].sort(),
    Object.values(patterns)
      .map(({ source }) => source)
      .sort(),
  );
  for (const pattern of found) assert.match(wordsOf(pattern) ?? '', /^must /, pattern);
});
