import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rendersQuickly } from '../../dashboard/pages/history/record/markdown-limits.ts';

test('text that would block the browser is not offered as Markdown', () => {
  for (const usual of ['', '> a\n> > b\n- - c', '-'.repeat(200), `| ${'-'.repeat(200)} |`, '**'])
    assert.ok(rendersQuickly(usual), usual);
  for (const hostile of ['>'.repeat(50), 'a\n'.concat('> '.repeat(60)), '1. - '.repeat(30)])
    assert.ok(!rendersQuickly(hostile), hostile);
  assert.ok(!rendersQuickly('a'.repeat(50_001)));
  assert.ok(!rendersQuickly(' '.repeat(100_000)));
});
