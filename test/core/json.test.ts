import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonical,
  changedNumber,
  compact,
  depth,
  elements,
  hasMoreNames,
  isStorable,
  members,
  membersAndDepth,
} from '../../src/core/json.ts';

/** Names and texts, without positions. */
function parts(text: string) {
  return members(text).map(({ name, text: value }) => ({ name, text: value }));
}

/** Any JSON value, with all kinds of whitespace between its tokens. */
const spaced = fc.jsonValue({ maxDepth: 4 }).chain((value) =>
  fc.constantFrom(0, 1, 3, '\t', ' \n').map((indent) => ({
    value,
    text: ` ${JSON.stringify(value, null, indent)}\r\n`,
  })),
);

test('compact removes only the whitespace between tokens', () => {
  fc.assert(
    fc.property(spaced, ({ value, text }) => {
      assert.equal(compact(text), JSON.stringify(value));
    }),
  );
});

test('different names are counted wherever they are, and no texts', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const forms = [
    (all: string[]) => JSON.stringify(Object.fromEntries(all.map((name) => [name, 1]))),
    (all: string[]) =>
      JSON.stringify(
        all.map((name) => ({ [name]: { a: ':' } })),
        null,
        1,
      ),
    (all: string[]) => `{${all.map((name) => `"${name}\\"\\\\" \n: "x:"`).join()}`,
  ];
  for (const form of forms) {
    assert.equal(hasMoreNames(form(names(990)), 1_000), false);
    assert.equal(hasMoreNames(form(names(1_100)), 1_000), true);
    assert.equal(hasMoreNames(form([...names(500), ...names(500), ...names(500)]), 1_000), false);
  }
  assert.equal(hasMoreNames(JSON.stringify(names(5_000)), 1_000), false);
  for (const text of ['', '"', `"${'x'.repeat(9_000)}`, `${'"a":'.repeat(9_000)}"`]) {
    assert.equal(hasMoreNames(text, 1_000), false);
  }
});

test('names that were chosen to share a hash are different', () => {
  const max = 1_100;
  const names: string[] = [];
  for (let index = 0; names.length < 4_000; index++) {
    const name = index.toString(36);
    // From the offset of FNV-1a, all of them have fewer hashes than names are allowed.
    let hash = 0x811c9dc5 ^ (name.length + 2);
    for (const letter of `"${name}"`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
    if (((hash ^ (hash >>> 15)) & (2 ** 20 - 1)) < 1_024) names.push(name);
  }
  const body = `{${names.map((name) => `"${name}":1`).join()}}`;
  assert.equal(hasMoreNames(body, max), true);
});

test('members keep their order and their text', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }))), (entries) => {
      const text = `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
      assert.deepEqual(
        parts(text),
        entries.map(([name, value]) => ({ name, text: JSON.stringify(value) })),
      );
    }),
  );
});

test('number texts and number-like names are unchanged', () => {
  assert.deepEqual(parts(compact('{ "2": 1.0, "1": 12345678901234567890, "1": 1e400 }')), [
    { name: '2', text: '1.0' },
    { name: '1', text: '12345678901234567890' },
    { name: '1', text: '1e400' },
  ]);
});

test('brackets, commas and quotes inside strings are not structure', () => {
  const text = '{"a":"}],{\\"\\\\","b\\"":[{"c":"]"}]}';
  assert.deepEqual(parts(text), [
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
  for (const [object, expected] of [
    ['{}', 1],
    ['{"a":"[["}', 1],
    ['{"a":[],"b":{"c":[[1]]},"d":{}}', 4],
  ] as const) {
    assert.deepEqual([depth(object), membersAndDepth(object).depth], [expected, expected]);
  }
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

test('a text is storable if JSON.parse returns it well-formed and without NUL', () => {
  const text = fc.array(
    fc.constantFrom(
      ...['a', '😀', '\\\\', '\\"', '\\u0000', '\\u0001', '\\ud83d', '\\ude00', '\\u0041'],
      ...['\\uD83D', '\\uDE00', '\\uDbFf', '\\uDc00', '\\ud7ff', '\\uE000', 'u0000', 'ud83d'],
    ),
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

const exact = [
  ...['0', '-0', '-0.0000000000000000000', '0e999', '1.0', '1.000000000000000000', '1E5', '10e-1'],
  ...['9007199254740992', '100000000000000000000', '1e21', '0.30000000000000004', '5e-324'],
  ...['1.7976931348623157e308', '999999999999999', '99999999999999e99', '"1e400"', '{"1e400":[]}'],
  ...['["\\"",1,"12345678901234567890"]', 'true', '[]'],
  // As `%.17g` writes 0.1 and 0.7.
  ...['0.10000000000000001', '0.69999999999999996'],
];
const changed = [
  ...['1e400', '-1E+400', '1e-400', '-0.1e-0400', '9007199254740993', '-12345678901234567890'],
  ...['0.1000000000000000055511151231257827', '0.100000000000000012', '1.7976931348623159e308'],
  ...['12345678901234567890.0', '4.9e-324'],
];

test('a number that changes when parsed is found at any position', () => {
  for (const text of exact) assert.equal(changedNumber(text), null, text);
  for (const number of changed) {
    const texts = ['#', '[1,#]', '{"a":1e5,"b":"2e500","c":{"d":[# ,1e999]}}', '{"a\\"":\n#}'];
    for (const text of texts) assert.equal(changedNumber(text.replace('#', number)), number, text);
  }
});

test('no number that JSON.stringify writes is changed', () => {
  const values = fc.oneof(fc.jsonValue(), fc.double({ noDefaultInfinity: true, noNaN: true }));
  fc.assert(
    fc.property(values, (value) => assert.equal(changedNumber(JSON.stringify(value)), null)),
  );
});

test('a number changes if its decimal differs from the parsed one', () => {
  const digits = fc.stringMatching(/^[0-9]{1,18}$/);
  const number = fc
    .tuple(digits, fc.option(digits), fc.option(fc.integer({ min: -330, max: 320 })))
    .map(([whole, part, power]) => {
      const mantissa = BigInt(whole) + (part === null ? '' : `.${part}`);
      return mantissa + (power === null ? '' : `e${power}`);
    });
  fc.assert(
    fc.property(number, (text) => {
      const written = JSON.stringify(Number(text));
      // Next to a number that overflows, all numbers are compared as decimals.
      const decimal = (one: string) => canonical(`[1e999,${one}]`);
      const same =
        written !== 'null' &&
        [written, Number(text).toPrecision(17)].some((one) => decimal(one) === decimal(text));
      assert.equal(changedNumber(text) === null, same);
    }),
    { numRuns: 2_000 },
  );
});

test('numbers as long as a body are compared quickly', () => {
  const zeros = '0'.repeat(1_000_000);
  const forms = [`1${zeros}1`, `1${zeros}`, `1${zeros}.0${zeros}1`, `1e1${zeros}`, `-0.${zeros}1`];
  const canonicals = forms.map((number) => canonical(`[${number}]`));
  assert.equal(new Set(canonicals).size, forms.length);
  assert.equal(canonicals[1], canonical('[1e1000000]'));
});

test('numbers in different notations are equal if their decimals are', () => {
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

/** A document with numbers in all notations, strings that look like numbers, and repeated names. */
const { written } = fc.letrec<{ written: string }>((tie) => {
  const digits = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/));
  const part = fc.stringMatching(/^\.[0-9]{1,24}$/);
  const power = fc.stringMatching(/^[eE][+-]?[0-9]{1,4}$/);
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(part), fc.option(power))
    .map((parts) => parts.map((one) => one ?? '').join(''));
  const string = fc.oneof(
    number.map((text) => JSON.stringify(text)),
    fc.constantFrom('""', '"\\""', '"\\\\"', '"\\"1e999,"', '"\\ud800"', '"\\u0031"'),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const name = fc.oneof(string, fc.constantFrom('"a"', '"b"', '"9"', '"10"', '"__proto__"'));
  const blank = fc.constantFrom('', '', ' ', '\n\t');
  const member = fc
    .tuple(name, blank, tie('written'))
    .map(([of, space, value]) => `${of}:${space}${value}`);
  const list = (of: fc.Arbitrary<string>) => fc.tuple(blank, fc.array(of, { maxLength: 4 }));
  return {
    written: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(number, string, fc.constantFrom('null', 'true', 'false', '1e999')),
      list(tie('written')).map(([space, values]) => `[${space}${values.join(`,${space}`)}]`),
      list(member).map(([space, all]) => `{${all.join(`${space},`)}${space}}`),
    ),
  };
});

test('the canonical form equals that of a slow reference implementation', () => {
  fc.assert(
    fc.property(written, (text) => assert.equal(canonical(text), slowly(compact(text)))),
    { numRuns: 2_000 },
  );
});

test('parsed names do not depend on earlier names', () => {
  // V8 confuses a name with an escape and a backslash that it parsed at the same position.
  for (const name of ['\\"', '\\\\', '\\"', '\\n']) {
    const text = `{"${name}":2,"before":1}`;
    assert.equal(canonical(`{"before":1,"${name}":2}`), text);
  }
});

test('if a value may contain a long number, canonical parses only names', (t) => {
  const parse = t.mock.method(JSON, 'parse');
  canonical('{"a":"1234567890123456","b":[0,{"c":1e999}]}');
  assert.deepEqual(
    parse.mock.calls.map((call) => call.arguments),
    [['"a"'], ['"b"'], ['"c"']],
  );
});

function slowly(text: string): string {
  if (text.startsWith('[')) return `[${elements(text).map(slowly)}]`;
  if (text.startsWith('{')) {
    const values = new Map(members(text).map((member) => [member.name, member.text]));
    const entries = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${slowly(value)}`)}}`;
  }
  const value = JSON.parse(text) as unknown;
  if (typeof value !== 'number') return JSON.stringify(value);
  const decimal = decimalOf(text);
  const isSame = Number.isFinite(value) && decimalOf(String(value)) === decimal;
  return isSame ? JSON.stringify(value) : decimal;
}

function decimalOf(source: string): string {
  const [mantissa = '', power = '0'] = source.toLowerCase().split('e');
  const [whole = '', part = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + part).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const last = Number(power) - part.length + (digits.length - significant.length);
  return `${source.startsWith('-') ? '-' : ''}${significant}e${last}`;
}
