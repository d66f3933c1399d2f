import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  documentOf,
  documentOfItem,
  type Path,
  textWithin,
} from '../../../src/core/workflow/document.ts';
import { outputOfText } from '../../../src/core/workflow/step-output.ts';

/** Every value within a value, with its path. */
function parts(value: unknown, path: Path = []): [Path, unknown][] {
  const inner = Array.isArray(value)
    ? value.flatMap((one, index) => parts(one, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, one]) => parts(one, [...path, name]))
      : [];
  return [[path, value], ...inner];
}

test('every path returns its value and the length of the value within text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify({ value });
      for (const document of [documentOf(outputOfText(json)), documentOfItem(json)]) {
        for (const [path, one] of parts({ value }).slice(1)) {
          const text = document.at(path);
          assert.equal(text, JSON.stringify(one));
          assert.equal(document.charsWithin(path), textWithin(text).length);
        }
      }
    }),
  );
});

test('a missing value is null, and the last of two equal names counts', () => {
  const document = documentOfItem('{"a":[1.0,{"b":"]}\\\\\\""}],"n":1,"n":[1e400],"":{}}');
  const found = (...path: Path) => document.at(path);
  assert.equal(found('a', 0), '1.0');
  assert.equal(found('a', 1, 'b'), '"]}\\\\\\""');
  assert.equal(found('n', 0), '1e400');
  assert.equal(found(''), '{}');
  for (const path of [
    ['none'],
    [0],
    ['a', 2],
    ['a', '0'],
    ['a', 1, 'b', 0],
    ['a', 0, 'x'],
    ['', 'x'],
    ['length'],
    ['a', 'length'],
  ]) {
    assert.equal(document.at(path), 'null', path.join('.'));
    assert.equal(document.charsWithin(path), 0);
  }
  assert.equal(document.inside(), document.json);
});
