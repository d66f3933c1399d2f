import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonical, compact, depth, isStorable, members } from '../../src/core/json.ts';

/** Any JSON value, written with blanks between its tokens in all the ways that are allowed. */
const spaced = fc.jsonValue({ maxDepth: 4 }).chain((value) =>
  fc.constantFrom(0, 1, 3, '\t', ' \n').map((indent) => ({
    value,
    text: ` ${JSON.stringify(value, null, indent)}\r\n`,
  })),
);

test('compact drops the blanks between tokens and nothing else', () => {
  fc.assert(
    fc.property(spaced, ({ value, text }) => {
      assert.equal(compact(text), JSON.stringify(value));
    }),
  );
});

test('members are found in the order sent, each with its own text', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }))), (entries) => {
      const text = `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
      assert.deepEqual(
        members(text),
        entries.map(([name, value]) => ({ name, text: JSON.stringify(value) })),
      );
    }),
  );
});

test('number texts and number-like names stay as they were sent', () => {
  assert.deepEqual(members(compact('{ "2": 1.0, "1": 12345678901234567890, "1": 1e400 }')), [
    { name: '2', text: '1.0' },
    { name: '1', text: '12345678901234567890' },
    { name: '1', text: '1e400' },
  ]);
});

test('brackets, commas and quotes inside strings are not structure', () => {
  const text = '{"a":"}],{\\"\\\\","b\\"":[{"c":"]"}]}';
  assert.deepEqual(members(text), [
    { name: 'a', text: '"}],{\\"\\\\"' },
    { name: 'b"', text: '[{"c":"]"}]' },
  ]);
  assert.equal(depth(text), 3);
});

test('depth counts the deepest nesting', () => {
  assert.equal(depth('5'), 0);
  assert.equal(depth('[]'), 1);
  assert.equal(depth('[[],{"a":[1]}]'), 3);
  assert.equal(depth('['.repeat(100_000) + ']'.repeat(100_000)), 100_000);
});

const unstorable = [
  '"\\u0000"',
  '{"a\\u0000":1}',
  '["\\ud800"]',
  '{"x":{"y":"\\udc00\\ud800"}}',
  '"\ud800"',
];
for (const text of unstorable) {
  test(`${JSON.stringify(text)} cannot be stored`, () => assert.equal(isStorable(text), false));
}

const storable = [
  '"\\\\u0000"',
  '"\\ud83d\\ude00"',
  '"😀"',
  '{"a":"\\n\\u0001"}',
  '5',
  '"\\\\\\\\"',
];
for (const text of storable) {
  test(`${JSON.stringify(text)} can be stored`, () => assert.equal(isStorable(text), true));
}

test('what is storable is what JSON.parse finds well-formed and free of NUL', () => {
  const text = fc.array(
    fc.constantFrom('a', '\\\\', '\\"', '\\u0000', '\\ud83d', '\\ude00', '\\u0041'),
  );
  fc.assert(
    fc.property(text, (parts) => {
      const json = `"${parts.join('')}"`;
      const value = JSON.parse(json) as string;
      assert.equal(isStorable(json), value.isWellFormed() && !value.includes('\0'));
    }),
  );
});

test('two texts of the same value have the same canonical form', () => {
  assert.equal(
    canonical('{"b":1.0,"a":[1,{"d":2,"c":3}]}'),
    canonical('{ "a":[1,{"c":3,"d":2.0}], "b":1 }'),
  );
  assert.notEqual(canonical('{"a":[1,2]}'), canonical('{"a":[2,1]}'));
  assert.notEqual(canonical('{"a":"1"}'), canonical('{"a":1}'));
});

test('numbers as long as a body are compared without ado', () => {
  const zeros = '0'.repeat(1_000_000);
  const forms = [`1${zeros}1`, `1${zeros}`, `1${zeros}.0${zeros}1`, `1e1${zeros}`, `-0.${zeros}1`];
  const canonicals = forms.map((number) => canonical(`[${number}]`));
  assert.equal(new Set(canonicals).size, forms.length);
  assert.equal(canonicals[1], canonical('[1e1000000]'));
});

test('numbers are the same where they are the same decimal, however they are written', () => {
  const same = [
    ['1', '1.0', '1e0', '10e-1', '0.1E+1'],
    ['0', '-0', '0.000', '0e99', '-0.0E-7'],
    ['123456789012345678901', '123456789012345678901.0', '1.23456789012345678901e20'],
    ['1e400', '10e399', '0.1e401'],
    ['-1.5e-400', '-15e-401'],
    ['0.1', '0.10000000000000000000000', '1e-1'],
    ['1e99999999999', '10e99999999998'],
  ];
  const forms = same.map((texts) => texts.map((text) => canonical(`{"a":[${text}]}`)));
  for (const form of forms) assert.equal(new Set(form).size, 1, form.join(' '));
  assert.equal(new Set(forms.flat()).size, same.length);
  for (const [one, other] of [
    ['9007199254740992', '9007199254740993'],
    ['1e400', 'null'],
    ['0.1', '0.1000000000000000055511151231257827'],
    ['"1e400"', '1e400'],
  ]) {
    assert.notEqual(canonical(`{"a":${one}}`), canonical(`{"a":${other}}`));
  }
});
