import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inertText } from '../../src/core/inert-text.ts';

test('an ordinary text does not change', () => {
  for (const text of [
    'Ada Lovelace',
    'Zoë Müller-Lüdenscheid (Köln) #7',
    '注文 12, 10:30',
    'exe_01h455vb4pex5vsknk084sn02q',
    'PROVIDER_ERROR & more',
  ]) {
    assert.equal(inertText(text), text);
  }
});

test('an address is no link', () => {
  for (const text of [
    'https://evil.example/a?b=c',
    'HTTP://EVIL.EXAMPLE',
    'see http://10.0.0.1:8080/x.',
    'www.evil.example',
    'evil.example/path',
    'evil。example',
    'ada@evil.example',
    'mailto:ada@evil.example',
    'tel:+49301234',
    'slack://channel?id=1',
    'javascript:alert(1)',
    '[click](https://evil.example)',
    '![](https://evil.example/a.png)',
    '<https://evil.example|click>',
  ]) {
    const inert = inertText(text);
    assert.doesNotMatch(inert, /[a-z]:\S/i, text);
    assert.doesNotMatch(inert, /\S[.。．｡]\S/, text);
    assert.doesNotMatch(inert, /[@[\]]/, text);
  }
});

test('nothing is emphasized, quoted as code or mentioned', () => {
  for (const text of [
    '*b*',
    '**b**',
    '_i_',
    '__b__',
    'a _i_ b',
    '~s~',
    '`c`',
    '```c```',
    '\\*b\\*',
  ]) {
    assert.doesNotMatch(inertText(text), /[*~`\\]|\b_\b|(^|\s)_|_($|\s)/, text);
  }
  assert.doesNotMatch(inertText('<@U123> @here @channel <!everyone>'), /@/);
});

test('control characters, line breaks and what reorders or hides text are gone', () => {
  const hidden = [
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u061c',
    '\u{e0041}',
    '\ufe0f',
  ];
  assert.equal(inertText(`a${hidden.join('')}b`), 'ab');
  assert.equal(inertText('a\0\x07\x1b[31m\r\n\u2028\u2029\u0085b'), 'a ［31m b');
  assert.equal(inertText('a\ud800b'), 'a\ufffdb');
});
