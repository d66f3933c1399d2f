import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spansOf } from '../../dashboard/pages/history/markdown-spans.ts';

test('a link is read without what the oldest browsers of the build lack', () => {
  Object.assign(URL, { parse: undefined });
  assert.deepEqual(spansOf('[here](https://example.com/page)'), [
    { kind: 'link', text: 'here', href: 'https://example.com/page' },
  ]);
  assert.deepEqual(spansOf('[here](javascript:alert)'), [
    { kind: 'text', text: '[here](javascript:alert)' },
  ]);
});
