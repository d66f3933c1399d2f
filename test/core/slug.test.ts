import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toId } from '../../src/core/id.ts';
import { isName, slugOf, slugPattern } from '../../src/core/slug.ts';

const pattern = new RegExp(slugPattern);

test('a slug follows from the letters and digits of a name', () => {
  for (const [name, slug] of [
    ['Explainer', 'explainer'],
    ['  Ünï "quoted" Café 2 ', 'uni-quoted-cafe-2'],
    ['snake_case-and-more', 'snake_case-and-more'],
    ['--x--', 'x'],
    ['ﬁne', 'fine'],
    [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
    ['x'.repeat(200), 'x'.repeat(64)],
  ] as const) {
    assert.equal(slugOf(name), slug);
    assert.match(slug, pattern);
  }
});

test('a name without letters a to z and digits gives none, nor does one like an identifier', () => {
  for (const name of ['日本語', '___', '!', 'agt_01kbb3pz00fa9ywgjv3w6mw790']) {
    assert.equal(slugOf(name), null, name);
  }
});

test('only lower-case letters, digits, underscores and hyphens that are no identifier are a slug', () => {
  for (const slug of ['a', '-', '_9', 'x'.repeat(64), 'agt_1']) assert.match(slug, pattern);
  for (const text of [
    '',
    'A',
    'a b',
    'é',
    'a/b',
    'x'.repeat(65),
    'wfl_01kbb3pz00fa9ywgjv3w6mw790',
  ]) {
    assert.doesNotMatch(text, pattern);
  }
});

test('an alias may have any case, dots and colons, but is no path segment that clients resolve and no identifier', () => {
  for (const alias of ['a', 'A.b:c_d-e', '...', '.a', 'x'.repeat(128), 'pmpt_68a1', 'agt_1']) {
    assert.ok(isName(alias), alias);
  }
  for (const kind of ['agent', 'execution', 'alert', 'workflow'] as const) {
    assert.ok(!isName(toId(kind, '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41')), kind);
  }
  for (const text of ['', '.', '..', 'a b', 'a/b', 'a,b', 'é', 'a\n', 'x'.repeat(129)]) {
    assert.ok(!isName(text), text);
  }
});
