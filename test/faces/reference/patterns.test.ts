import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../../src/faces/reference/operations-index.ts';
import { sessionPaths } from '../../../src/features/people/access/session-paths.ts';
import { patterns, requirementOf } from '../../../src/http/contract/patterns.ts';

/** Every pattern of the schemas of requests. */
function patternsIn(schema: object): string[] {
  return Object.entries(schema).flatMap(([word, inner]) => {
    if (word === 'pattern' && typeof inner === 'string') return [inner];
    return typeof inner === 'object' && inner !== null ? patternsIn(inner) : [];
  });
}

test('a pattern violation is explained in words', () => {
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
  for (const pattern of found) assert.match(requirementOf(pattern) ?? '', /^must /, pattern);
});

test('an origin is accepted only in the form that browsers send', () => {
  const origin = new RegExp(patterns.origin.source, 'u');
  for (const one of [
    'https://a.example',
    'http://localhost:3000',
    'http://[::1]:3000',
    'http://[::80]',
    'https://a.example:80',
    'http://a.example:443',
    'http://a.example:8080',
    'https://a.example:65535',
    'chrome-extension://abcdef',
  ]) {
    assert.match(one, origin);
  }
  for (const one of [
    '*',
    'null',
    'a.example',
    'https://A.example',
    'https://a.example/',
    'https://*.example',
    'https://a.example:443',
    'http://a.example:80',
    'http://[::1]:80',
    'https://a.example:',
    'https://a.example:0',
    'https://a.example:08443',
    'https://a.example:65536',
    'https://a.example:99999',
  ]) {
    assert.doesNotMatch(one, origin);
  }
});
