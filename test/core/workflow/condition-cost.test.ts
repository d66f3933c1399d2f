import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCondition } from '../../../src/core/workflow/condition.ts';
import {
  ConditionEvaluator,
  type ConditionScope,
} from '../../../src/core/workflow/condition-evaluator.ts';
import { documentOf } from '../../../src/core/workflow/document.ts';

const evaluate = (text: string, of: ConditionScope) => new ConditionEvaluator().evaluate(text, of);

const tooExpensive = {
  kind: 'error',
  message: 'The conditions that are evaluated together process too much data.',
};

function scopeOf(input: unknown): ConditionScope {
  return { input: documentOf(JSON.stringify(input)), output: () => null };
}

test('a list macro iterates over at most 10,000 items of a list or map', () => {
  const items = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
  const inputs = (count: number) => [
    { list: items(count) },
    { list: Object.fromEntries(items(count).map((key) => [key, 1])) },
  ];
  const each = 'input.list.all(a, a != "x")';
  for (const input of inputs(10_000)) {
    assert.deepEqual(evaluate(each, scopeOf(input)), { kind: 'value', value: true });
  }
  for (const input of inputs(10_001)) {
    for (const condition of [
      each,
      'input.list.exists(a, a == "k0")',
      'input.list.exists_one(a, a == "k0")',
      'input.list.filter(a, a == "k0") == ["k0"]',
      'input.list.map(a, a == "k0") == [true]',
      'input.list.map(a, a == "k0", a) == ["k0"]',
    ]) {
      const message = 'A list macro may iterate over at most 10000 items, and this list has 10001.';
      assert.deepEqual(evaluate(condition, scopeOf(input)), { kind: 'error', message }, condition);
    }
  }
});

/** Each condition passes the static check, but would take seconds or more on its data. */
const expensive: [title: string, condition: string, input: unknown][] = [
  [
    'search for each item in a long text',
    'input.list.exists(one, input.text.contains(one))',
    { text: 'a'.repeat(900_000), list: Array(3_000).fill('b') },
  ],
  [
    'long lists compared again and again',
    Array.from({ length: 60 }, () => 'input.a == input.b').join(' && '),
    { a: Array(100_000).fill({}), b: Array(100_000).fill({}) },
  ],
  [
    'long lists compared for each item',
    'input.list.all(one, input.a == input.b)',
    { list: Array(10_000).fill(1), a: Array(20_000).fill(1), b: Array(20_000).fill(1) },
  ],
  [
    'membership in a long list for each item',
    'input.list.exists(one, one in input.a)',
    { list: Array(10_000).fill(1), a: Array(20_000).fill(2) },
  ],
  [
    'list joined to itself again and again',
    `size(${Array(150).fill('input.a').join(' + ')}) > 0`,
    { a: Array(50_000).fill(1) },
  ],
  [
    'text joined to each item',
    'input.list.exists(one, (one + input.text).startsWith("b"))',
    { list: Array(10_000).fill('a'), text: 'a'.repeat(100_000) },
  ],
  [
    'size of a long text for each item',
    'input.list.all(one, size(input.text) > 1)',
    { list: Array(10_000).fill(1), text: 'a'.repeat(100_000) },
  ],
  [
    'size of a large map for each item',
    'input.list.all(one, size(input.map) > 1)',
    {
      list: Array(10_000).fill(1),
      map: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, 1])),
    },
  ],
  [
    'large map compared to each item',
    'input.list.all(one, one != input.map)',
    {
      list: Array(10_000).fill({}),
      map: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, 1])),
    },
  ],
  [
    'long literal searched for each item',
    `input.list.all(one, "${'a'.repeat(1_800)}".lowerAscii() != one)`,
    { list: Array(10_000).fill('a') },
  ],
  [
    'long body for each item',
    `input.list.all(one, ${Array(100).fill('one').join(' && ')})`,
    { list: Array(10_000).fill(true) },
  ],
  [
    'errors absorbed for each item',
    `input.list.exists(one, ${Array(15).fill('one.a').join(' || ')})`,
    { list: Array(10_000).fill({}) },
  ],
  [
    'time zone for each item',
    'input.list.all(one, timestamp(int(one)).getHours("Europe/Berlin") >= 0)',
    { list: Array(10_000).fill(1) },
  ],
  [
    'list of lists as a key for each item',
    'input.list.exists(one, input.map[input.a] == 1)',
    { list: Array(10_000).fill(1), map: {}, a: Array(10_000).fill([1]) },
  ],
  [
    'list of lists as the key of a map for each item',
    'input.list.exists(one, {input.a: 1} == {"a": one})',
    { list: Array(10_000).fill(1), a: Array(10_000).fill([1]) },
  ],
  ['more members than are parsed', 'input.a == 1', { a: Array(200_000).fill({}) }],
  ['more text than is parsed', 'input.a == "x"', { a: 'a'.repeat(5_100_000) }],
  ['more long numbers than are parsed', 'input.a == 1', { a: Array(40_000).fill('1'.repeat(20)) }],
];
for (const [title, condition, input] of expensive) {
  test(`too expensive: ${title}`, () => {
    assert.equal(checkCondition(condition).problem, null);
    assert.deepEqual(evaluate(condition, scopeOf(input)), tooExpensive);
  });
}

test('data that a condition does not read costs nothing', () => {
  const input = { kind: 'a', text: 'x'.repeat(1_000_000), list: Array(200_000).fill(1) };
  const condition = Array(40).fill('input.kind == "a" && input.text != null').join(' && ');
  assert.deepEqual(evaluate(condition, scopeOf(input)), { kind: 'value', value: true });
});

const tooLong = (chars: number) =>
  `A search text, a duration or a time zone may have at most 100 characters, not ${chars}.`;

test('the argument of "contains" is limited, because a longer search is not linear', () => {
  const [text, word] = ['a'.repeat(900_000), `ab${'a'.repeat(400_000)}`];
  assert.deepEqual(evaluate('input.text.contains(input.word)', scopeOf({ text, word })), {
    kind: 'error',
    message: tooLong(400_002),
  });
  assert.deepEqual(evaluate(`input.text.contains("${'a'.repeat(101)}")`, scopeOf({ text })), {
    kind: 'error',
    message: tooLong(101),
  });
  const short = scopeOf({ text, word: 'a'.repeat(100) });
  assert.deepEqual(evaluate('input.text.contains(input.word)', short), {
    kind: 'value',
    value: true,
  });
});

test('the length of durations and time zones is limited', () => {
  const long = scopeOf({ t: '9'.repeat(101) });
  for (const call of ['duration(input.t)', 'timestamp("2026-01-01T00:00:00Z").getHours(input.t)']) {
    assert.deepEqual(evaluate(`size([${call}]) == 1`, long), {
      kind: 'error',
      message: tooLong(101),
    });
  }
});

test('a list is not a key', () => {
  const small = { input: documentOf('{"list":[1,[2],{"a":3}]}'), output: () => null };
  const error = { kind: 'error', message: 'No such key: 1,2,[object Object]' };
  assert.deepEqual(evaluate('input[input.list] == 1', small), error);
  for (const condition of ['input[?input.list].hasValue()', 'input.list in input']) {
    assert.deepEqual(evaluate(condition, small), { kind: 'value', value: false }, condition);
  }
});

test('conditions that are evaluated together share one cost limit', () => {
  const conditions = new ConditionEvaluator();
  const input = { a: Array(60_000).fill(1), b: Array(60_000).fill(1) };
  const same = scopeOf(input);
  assert.deepEqual(conditions.evaluate('input.a == input.b', same), { kind: 'value', value: true });
  const often = Array(9).fill('input.a == input.b').join(' && ');
  assert.deepEqual(conditions.evaluate(often, same), tooExpensive);
  assert.deepEqual(evaluate('input.a == input.b', same), { kind: 'value', value: true });
});

test('a condition is evaluated once, and charged once', () => {
  const conditions = new ConditionEvaluator();
  const same = scopeOf({ a: Array(60_000).fill(1), b: Array(60_000).fill(1) });
  for (let time = 0; time < 20; time++) {
    assert.equal(conditions.evaluate('input.a == input.b', same).kind, 'value');
  }
});

test('absorbing an error does not bypass the cost limit', () => {
  const input = scopeOf({ a: Array(90_000).fill({}), list: Array(5_000).fill({}) });
  const condition = 'input.list.exists(one, one.none == 1 || one.none == 2) || true';
  assert.deepEqual(evaluate(condition, input), tooExpensive);
  assert.deepEqual(evaluate('input.a[0].none == 1 || true', scopeOf({ a: [{}] })), {
    kind: 'value',
    value: true,
  });
});
