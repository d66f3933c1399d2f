import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { checkCondition, evaluateCondition } from '../../../src/core/workflow/condition.ts';
import {
  ConditionEvaluator,
  type ConditionScope,
} from '../../../src/core/workflow/condition-evaluator.ts';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { outputOfText } from '../../../src/core/workflow/step-output.ts';

const outputs: Record<string, string> = {
  triage: outputOfText('```json\n{"kind": "billing", "score": 0.8, "parts": [1, 2]}\n```'),
  word: outputOfText('billing'),
  number: outputOfText('42'),
  list: '[{"ok":true},null]',
};
const scope = {
  input: documentOf(
    JSON.stringify({ n: 1, name: 'x', list: Array.from({ length: 3_000 }, (_, at) => at) }),
  ),
  output: (step: string) => (outputs[step] === undefined ? null : documentOf(outputs[step])),
};

const evaluate = (text: string, of: ConditionScope) => new ConditionEvaluator().evaluate(text, of);

const values: [condition: string, value: boolean][] = [
  ['true', true],
  ['steps.triage.output.kind == "billing"', true],
  ['steps["triage"].output.score > 0.5 && size(steps.triage.output.parts) == 2', true],
  ['steps.word.output == "billing"', true],
  ['steps.number.output == 42', true],
  ['steps.list.output[0].ok', true],
  ['steps.skipped.output == null', true],
  ['has(steps.triage.output.none)', false],
  ['steps.triage.output.?none.orValue("a") == "a"', true],
  ['input.n == 1 && input.name in ["x", "y"]', true],
  ['input.list.exists(one, one == 7)', true],
  [
    '[input.name, "abc"].exists(one, one.contains("b") && one.contains(input.name + "")) == false',
    true,
  ],
  ['input.list.filter(a, a > 2998.0).map(a, string(a)) == ["2999"]', true],
  ['timestamp("2026-01-02T00:00:00Z") - timestamp("2026-01-01T00:00:00Z") > duration("23h")', true],
  ['timestamp("2026-01-02T00:00:00Z").getHours("Europe/Berlin") == 1', true],
  [
    'optional.of(input.name).or(optional.none()).hasValue() && optional.of("a").value() == "a"',
    true,
  ],
  [
    'input.list[int(input.n)] == 1 && "x" in {input.name: 1} && {"k": input.name}["k"] == "x"',
    true,
  ],
  ['[1.0] in [[input.n]] && !([input.n] in input.list) && {1: "a"}[1] == "a"', true],
  [
    '{"a": [1]} == {"a": [input.n]} && [[1.0], []] == [[input.n], []] && size(input.list + [1.0]) == 3001',
    true,
  ],
  ['input.n + 1.0 == 2.0 && int(input.n) % 2 == 1', true],
  ['input.n != 9007199254740992 && input.n != 0x1f && input.n < 0.30000000000000004 * 4.0', true],
  [`input.name in [${Array.from({ length: 40 }, (_, at) => `"${at}"`)}, "x"]`, true],
  [`[${Array.from({ length: 17 }, () => 'input.name')}].all(one, one == "x")`, true],
  [`size(${Array.from({ length: 17 }, () => 'input.name').join(' + ')}) == 17`, true],
  ['type(input.n) == double && type(input.name) != type(input.n)', true],
  ['input.none == steps.skipped.output || input.list == input.list', true],
  ['input.list.filter(a, a < 3.0).filter(b, b > 0.0).all(c, c in [1.0, 2.0])', true],
  ['input.list.map(a, a < 3.0, [a, "x"]) == [[0.0, "x"], [1.0, "x"], [2.0, "x"]]', true],
  ['size(input.list.filter(a, a > 5.0)) > 3 && input.list.exists_one(a, a == input.n)', true],
];
for (const [condition, value] of values) {
  test(`condition: ${condition}`, () => {
    assert.equal(checkCondition(condition).problem, null);
    assert.deepEqual(evaluate(condition, scope), { kind: 'value', value });
  });
}

const chained = /^The list of "map" must not contain "map": only "filter" may precede it\.$/;
const endless = 'input.list.all(a, input.list.all(b, input.list.all(c, a + b + c >= 0.0)))';
/** Each link of the chain doubles the text. */
function doubled(text: string): string {
  const names = Array.from({ length: 8 }, (_, at) => `v${at}`);
  return names
    .reduce((list, name) => `${list}.map(${name}, ${name} + ${name})`, `[${text}]`)
    .concat(' == []');
}

const broken: [condition: string, problem: RegExp][] = [
  ['steps.triage.output ==', /./],
  ['other.a == 1', /Unknown variable: other/],
  ['1 + 1', /returns int, not bool/],
  ['steps.size() > 1', /followed by the name/],
  ['steps[input.name].output == 1', /followed by the name/],
  ['input.list.exists(steps, steps == 1)', /followed by the name/],
  [
    'input.name.matches("(a+)+$")',
    /^The function "matches" is not available\. Use "startsWith", "endsWith" or "contains"\.$/,
  ],
  ...['split("")', 'indexOf("a")', 'lastIndexOf("a")', 'substring(1)'].map(
    (call): [string, RegExp] => [
      `input.name.${call} == ""`,
      /^The function "\w+" is not available/,
    ],
  ),
  ['["a"].join() == "a"', /"join" is not available/],
  ['bytes(input.name).size() == 1', /"bytes" is not available/],
  ['cel.bind(a, input.name, a == a)', /"bind" is not available/],
  ['input.list.all(a, {"k": [a.hex()]}.k == [])', /"hex" is not available/],
  ['charge_deep(input.name) == "x"', /"charge_deep" is not available/],
  ['set_up_evaluator()', /"set_up_evaluator" is not available/],
  [endless, /^"all" is not allowed inside "all": list macros cannot be nested\.$/],
  ['input.list.map(a, [a]).all(a, true)', /^The list of "all" must not contain "map"/],
  ['input.list.all(a, size(input.list.filter(b, b == a)) == 1)', /^"filter" is not allowed inside/],
  [
    '[input.list.filter(a, true)].exists(a, true)',
    /^The list of "exists" must not contain "filter"/,
  ],
  ['input.n == 9007199254740993', /^The number 9007199254740993 has no exact double/],
  ['input.n in [1, -12345678901234567890u]', /./],
  ['input.n == 1e400', /Invalid number/],
  ['input.n == 9007199254740993u', /^The number 9007199254740993u has no exact double/],
  ['"a".contains(1)', /'string\.contains\(int\)'/],
  [doubled('input.name'), chained],
  [doubled('"aaaa"'), chained],
  [doubled('{input.name: 1}'), chained],
  [doubled('optional.of(input.name).orValue("")'), chained],
  [doubled('true ? input.name : ""'), chained],
  [`input.name == "${'x'.repeat(2_000)}"`, /longer than 2000/],
  [`${'('.repeat(100)}true${')'.repeat(100)}`, /./],
];
for (const [condition, problem] of broken) {
  test(`rejected: ${condition.slice(0, 60)}`, () => {
    assert.match(checkCondition(condition).problem ?? '', problem);
    assert.equal(evaluate(condition, scope).kind, 'error');
  });
}

test('finds the steps that a condition refers to', () => {
  const { steps } = checkCondition(
    'steps.a.output.x == steps["b"].output && (has(steps.a.output.y) || steps.c.output[0] == 1)',
  );
  assert.deepEqual(steps, ['a', 'b', 'c']);
});

test('a failed evaluation returns an error with the reason', () => {
  const result = evaluate('steps.triage.output.none == 1', scope);
  assert.deepEqual(result, { kind: 'error', message: 'No such key: none' });
  assert.equal(evaluate('steps.triage.output', scope).kind, 'error');
});

test('an error that quotes model output is storable', () => {
  const odd = { ...scope, output: () => documentOf(outputOfText('{"k":"a\\u0000\\ud800b"}')) };
  const result = evaluate('input[steps.odd.output.k] == 1', odd);
  assert.deepEqual(result, { kind: 'error', message: 'No such key: a\ufffd\ufffdb' });
});

test('inherited properties do not exist', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    assert.equal(evaluate(`input.${name} == null`, scope).kind, 'error', name);
  }
});

test('a condition fails only if it reads a whole number that is not an exact double', () => {
  const json =
    '{"big":9007199254740993,"same":9007199254740993,"list":[-1e400],"__proto__":12345678901234567890,"n":1,' +
    `"third":0.33333333333333333333,"text":"9007199254740993","${'9'.repeat(20)}":2}`;
  const long = { input: documentOf(json), output: () => null };
  const message = (number: string) =>
    `The number ${number} has no exact double. Send it as a string to compare it.`;
  const wrong: [string, string][] = [
    ['input.big == 9007199254740992', '9007199254740993'],
    ['input.big > 1', '9007199254740993'],
    ['input.big == input.same', '9007199254740993'],
    ['input.list[0] < 0.0', '-1e400'],
    ['input.list.exists(one, one < 0.0)', '-1e400'],
    ['[input.big] == [input.same]', '9007199254740993'],
    ['string(input.big) == "9007199254740993"', '9007199254740993'],
  ];
  for (const [condition, number] of wrong) {
    assert.deepEqual(
      evaluate(condition, long),
      { kind: 'error', message: message(number) },
      condition,
    );
  }
  const right = [
    'input.n == 1',
    'input.third < 0.34',
    'input.text == "9007199254740993"',
    'input["99999999999999999999"] == 2',
  ];
  for (const condition of right) {
    assert.deepEqual(evaluate(condition, long), { kind: 'value', value: true }, condition);
  }
  const output = { ...scope, output: () => documentOf(outputOfText('9007199254740993')) };
  assert.equal(evaluate('steps.a.output == 1', output).kind, 'error');
});

test('the data of conditions that are evaluated together is parsed once', (t) => {
  const conditions = new ConditionEvaluator();
  const own = { input: documentOf('{"n":1}'), output: scope.output };
  const parse = t.mock.method(JSON, 'parse');
  for (const n of [1, 2, 3]) conditions.evaluate(`input.n == ${n}`, own);
  assert.equal(parse.mock.callCount(), 1);
});

test('an error does not contain nested list types, because each type would be cached forever', () => {
  const nested = { input: documentOf('{"a":[[{"b":[1]}]],"c":{"d":[["x"]]}}'), output: () => null };
  const message = 'no such overload: dyn<list<dyn>> + dyn<map<dyn, dyn>>';
  assert.deepEqual(evaluate('input.a + input.c == 1', nested), { kind: 'error', message });
});

test('an error of a calculation with a whole number says how to write it', () => {
  const number = { input: documentOf('{"n":3,"s":"x"}'), output: () => null };
  const hint =
    'An int and a double do not combine, and numbers of JSON are doubles: write 1.0 for 1, double(…) for an int, int(…) for %.';
  for (const [text, message] of [
    ['input.n + 1 > 2', `no such overload: dyn<double> + dyn<int>. ${hint}`],
    ['1 - input.n > 2', `no such overload: int - dyn<double>. ${hint}`],
    ['input.n % 2 == 1', `no such overload: dyn<double> % int. ${hint}`],
    ['input.s + 1 > 2', 'no such overload: dyn<string> + dyn<int>'],
  ] as const) {
    assert.deepEqual(evaluate(text, number), { kind: 'error', message });
  }
});

test('a condition does not retain the data it was evaluated on', async () => {
  const text = 'input.list.filter(one, true).exists(one, one == 1)';
  const evaluated = () => {
    const input = { list: [1] };
    assert.equal(checkCondition(text).problem, null);
    assert.equal(evaluateCondition(text, { input, steps: {} }), true);
    return new WeakRef(input);
  };
  const reference = evaluated();
  setFlagsFromString('--expose-gc');
  // A weak reference keeps its target alive until the current job ends.
  await new Promise(setImmediate);
  runInNewContext('gc')();
  assert.equal(reference.deref(), undefined);
});
