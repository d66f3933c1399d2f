import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  defaultTexts,
  type ExecuteBody,
  missingOf,
  parseExecuteBody,
  readVariables,
  suppliedTexts,
} from '../../../src/core/agent/variables.ts';

function texts(body: ExecuteBody): [string, string][] {
  assert.equal(body.kind, 'variables');
  return body.kind === 'variables' ? [...suppliedTexts(body.variables.json)] : [];
}

test('every JSON value is converted to its prompt text', () => {
  const body = parseExecuteBody(`{"variables": {
    "text": "a \\"b\\"\\n", "number": 1.50, "big": 12345678901234567890, "yes": true, "no": false,
    "object": { "z": 1, "a": [ 1, 2 ] }, "list": [ ], "empty": "", "nothing": null }}`);
  assert.deepEqual(texts(body), [
    ['text', 'a "b"\n'],
    ['number', '1.50'],
    ['big', '12345678901234567890'],
    ['yes', 'true'],
    ['no', 'false'],
    ['object', '{"z":1,"a":[1,2]}'],
    ['list', '[]'],
    ['empty', ''],
  ]);
});

test('strings inside objects have only the necessary escapes', () => {
  const sent = '{"variables":{"x":{"n\\u0061me":"Caf\\u00e9 \\/ \\"\\n","deep":["\\u263a",1.0]}}}';
  const body = parseExecuteBody(sent);
  assert.deepEqual(texts(body), [['x', '{"name":"Café / \\"\\n","deep":["☺",1.0]}']]);
  assert.ok(body.kind === 'variables' && body.variables.json.includes('\\u00e9'));
});

test('null counts as not supplied, but is named and recorded', () => {
  const body = parseExecuteBody('{"variables":{"a":null}}');
  assert.ok(body.kind === 'variables');
  assert.deepEqual([...body.variables.values.keys()], ['a']);
  assert.equal(body.variables.json, '{"a":null}');
  assert.deepEqual(texts(body), []);
  assert.deepEqual(missingOf(['a'], body), ['a']);
});

test('the last of two equal names counts', () => {
  assert.deepEqual(texts(parseExecuteBody('{"variables":{"a":1,"a":2}}')), [['a', '2']]);
  assert.deepEqual(texts(parseExecuteBody('{"variables":{"a":1},"variables":{"b":2}}')), [
    ['b', '2'],
  ]);
});

test('names of Object.prototype are ordinary variables', () => {
  const body = parseExecuteBody(
    '{"variables":{"__proto__":{"x":1},"constructor":"c","toString":null}}',
  );
  assert.deepEqual(texts(body), [
    ['__proto__', '{"x":1}'],
    ['constructor', 'c'],
  ]);
  assert.equal(({} as Record<string, unknown>).x, undefined);
});

const malformed = [
  '',
  '{',
  '{"variables":',
  '{"variables":{}}x',
  "{'variables':{}}",
  '{"variables":{"a":1,}}',
  'NaN',
];
for (const text of malformed) {
  test(`${JSON.stringify(text)} is malformed`, () =>
    assert.equal(parseExecuteBody(text).kind, 'malformed'));
}

const invalid = [
  '[]',
  'null',
  '5',
  '"x"',
  '{"variables":[]}',
  '{"variables":null}',
  '{"variables":"x"}',
  '{"variables":{},"extra":1}',
  `{"variables":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`,
];
for (const text of invalid) {
  test(`${JSON.stringify(text.slice(0, 60))} is invalid`, () =>
    assert.equal(parseExecuteBody(text).kind, 'invalid'));
}

test('an object without the field lacks all required variables', () => {
  const body = parseExecuteBody('{}');
  assert.equal(body.kind, 'absent');
  assert.deepEqual(missingOf(['a', 'b'], body), ['a', 'b']);
  assert.deepEqual(missingOf(['a'], parseExecuteBody('{"variables":[]}')), []);
});

test('an unstorable variable is named', () => {
  for (const [text, name] of [
    ['{"variables":{"ok":1,"bad":"\\u0000"}}', 'bad'],
    ['{"variables":{"bad":{"deep":["\\ud800"]}}}', 'bad'],
    ['{"variables":{"b\\u0000d":1}}', 'b\uFFFDd'],
  ] as const) {
    const body = parseExecuteBody(text);
    assert.ok(body.kind === 'invalid');
    assert.equal(body.variable, name);
  }
});

test('the first unstorable variable is named', () => {
  const entries = fc.array(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c\\u0000', '\\ud83d\\ude00', 'e\\udc00'),
      fc.constantFrom('1', '"\\u0041"', '"\\u0000"', '["\\ud83d"]', '"\\\\u0000"', '{"\\ud800":1}'),
    ),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(entries, (all) => {
      const body = readVariables(`{${all.map(([name, value]) => `"${name}":${value}`).join(',')}}`);
      const bad = all.find((one) =>
        one.some((text) => /(?<!\\)\\u(0000|d800|dc00|d83d"])/.test(text)),
      );
      const name = bad && (JSON.parse(`"${bad[0]}"`) as string);
      const shown = name?.toWellFormed().replaceAll('\0', '\uFFFD');
      assert.equal(body.kind === 'invalid' ? body.variable : undefined, shown);
    }),
  );
});

test('values are decoded only when a prompt needs them', (t) => {
  const parse = t.mock.method(JSON, 'parse');
  const body = readVariables('{"a":"\\u0041","b":["\\u0042"]}');
  assert.deepEqual(
    parse.mock.calls.map((call) => call.arguments[0]),
    ['"a"', '"b"'],
  );
  assert.deepEqual(texts(body), [
    ['a', 'A'],
    ['b', '["B"]'],
  ]);
});

test('defaults convert to the same texts as supplied values; null is omitted', () => {
  assert.deepEqual(
    [...defaultTexts({ a: 'x', b: 1.5, c: { d: [1] }, e: null, f: false })],
    [
      ['a', 'x'],
      ['b', '1.5'],
      ['c', '{"d":[1]}'],
      ['f', 'false'],
    ],
  );
});
