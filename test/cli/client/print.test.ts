import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneLine, stripControlCharacters } from '../../../src/cli/client/print.ts';

test('control characters do not reach the terminal', () => {
  const cases: [string, string][] = [
    ['\x1b[2J\x1b]0;title\x07clear', '[2J]0;titleclear'],
    ['done\rfail', 'donefail'],
    ['\u009b31mred \u0090dcs', '31mred dcs'],
    ['\0\b\v\f\x7f', ''],
    ['a\n\tb — ünïcödé 🙂', 'a\n\tb — ünïcödé 🙂'],
  ];
  for (const [text, expected] of cases) assert.equal(stripControlCharacters(text), expected);
});

test('a cell and a message are one line', () => {
  assert.equal(oneLine('a\n\r\x1b[1mb\tc'), 'a [1mb c');
});
