import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { checkCondition, readCondition } from '../../../src/core/workflow/condition.ts';
import { type ConditionScope, conditionJudge } from '../../../src/core/workflow/condition-judge.ts';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { outputOfText } from '../../../src/core/workflow/step-output.ts';
import { holds } from '../../../src/core/workflow/text-search.ts';

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

const evaluateCondition = (text: string, of: ConditionScope) => conditionJudge().judge(text, of);

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
  [`[${Array.from({ length: 16 }, () => 'input.name')}].all(one, one == "x")`, true],
];
for (const [condition, value] of values) {
  test(`condition: ${condition}`, () => {
    assert.equal(checkCondition(condition).problem, null);
    assert.deepEqual(evaluateCondition(condition, scope), { kind: 'value', value });
  });
}

const tooMuch = /^The condition puts together more than 16 values in one\.$/;
/** As large as no memory, after few steps. */
function doubled(text: string): string {
  const names = Array.from({ length: 8 }, (_, at) => `v${at}`);
  return names
    .reduce((list, name) => `${list}.map(${name}, ${name} + ${name})`, `[${text}]`)
    .concat(' == []');
}

const broken: [condition: string, problem: RegExp][] = [
  ['steps.triage.output ==', /./],
  ['other.a == 1', /Unknown variable: other/],
  ['1 + 1', /gives a int/],
  ['steps.size() > 1', /followed by the name/],
  ['steps[input.name].output == 1', /followed by the name/],
  ['input.list.exists(steps, steps == 1)', /followed by the name/],
  ['input.name.matches("(a+)+$")', /^The function "matches" is not available\.$/],
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
  ['input.name.contains_of_ours("x")', /"contains_of_ours" is not available/],
  ['input.n == 9007199254740993', /^The number 9007199254740993 would be read as another one/],
  ['input.n in [1, -12345678901234567890u]', /./],
  ['input.n == 1e400', /Invalid number/],
  ['input.n == 9007199254740993u', /^The number 9007199254740993u would be read/],
  ['"a".contains(1)', /'string\.contains\(int\)'/],
  [`${Array.from({ length: 17 }, () => 'input.name').join(' + ')} == ""`, tooMuch],
  [`size([${Array.from({ length: 17 }, () => 'input.name')}]) == 17`, tooMuch],
  [doubled('input.name'), tooMuch],
  [doubled('"aaaa"'), tooMuch],
  [doubled('{input.name: 1}'), tooMuch],
  [doubled('optional.of(input.name).orValue("")'), tooMuch],
  [doubled('true ? input.name : ""'), tooMuch],
  [`input.name == "${'x'.repeat(2_000)}"`, /longer than 2000/],
  [`${'('.repeat(100)}true${')'.repeat(100)}`, /./],
];
for (const [condition, problem] of broken) {
  test(`no condition: ${condition.slice(0, 60)}`, () => {
    assert.match(checkCondition(condition).problem ?? '', problem);
    assert.equal(evaluateCondition(condition, scope).kind, 'error');
  });
}

test('the steps that a condition refers to', () => {
  const { steps } = checkCondition(
    'steps.a.output.x == steps["b"].output && (has(steps.a.output.y) || steps.c.output[0] == 1)',
  );
  assert.deepEqual(steps, ['a', 'b', 'c']);
});

test('what cannot be evaluated is an error that says why', () => {
  const result = evaluateCondition('steps.triage.output.none == 1', scope);
  assert.deepEqual(result, { kind: 'error', message: 'No such key: none' });
  assert.equal(evaluateCondition('steps.triage.output', scope).kind, 'error');
});

test('an error that quotes what a model wrote can be stored', () => {
  const odd = { ...scope, output: () => documentOf(outputOfText('{"k":"a\\u0000\\ud800b"}')) };
  const result = evaluateCondition('input[steps.odd.output.k] == 1', odd);
  assert.deepEqual(result, { kind: 'error', message: 'No such key: a\ufffd\ufffdb' });
});

test('what every object inherits is not there', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    assert.equal(evaluateCondition(`input.${name} == null`, scope).kind, 'error', name);
  }
});

const tooLong = {
  kind: 'error',
  message: 'The conditions that are judged together take longer than 100 ms.',
};
const endless = 'input.list.all(a, input.list.all(b, input.list.all(c, a + b + c >= 0.0)))';

test('a condition that would take for ever is ended', () => {
  assert.equal(checkCondition(endless).problem, null);
  assert.deepEqual(evaluateCondition(endless, scope), tooLong);
});

test('a text is looked for in time in proportion to the lengths of both', () => {
  const text = `${'a'.repeat(300)}b${'a'.repeat(150_000)}`;
  for (const [sought, found] of [
    [text, true],
    [`${text}b`, false],
    [`b${'a'.repeat(150_000)}`, true],
    [`c${'a'.repeat(100_000)}`, false],
  ] as const) {
    assert.equal(holds('a'.repeat(1_000_000) + text, sought), found, sought.slice(-3));
  }
  const letters = Array.from({ length: 4_000 }, (_, at) => 'ab'.charAt(((at * at) % 7) % 2)).join(
    '',
  );
  for (let at = 0; at < 100; at++) {
    const part = letters.slice(at * 31, at * 31 + 33 + at);
    for (const sought of [part, `${part.slice(1)}a`, `${part}bb`]) {
      assert.equal(holds(letters, sought), letters.includes(sought), sought);
    }
  }
});

test('a search in long texts is ended', () => {
  const [text, word] = ['a'.repeat(900_000), `ab${'a'.repeat(400_000)}`];
  const long = {
    input: documentOf(JSON.stringify({ text, word, list: Array(3_000).fill(1) })),
    output: () => null,
  };
  // One search of the engine's own would take minutes.
  const often = 'input.list.exists(one, input.text.contains(input.word))';
  assert.deepEqual(evaluateCondition(often, long), tooLong);
});

test('a list of lists is no key, of which a text would be made', () => {
  const all = 'input.list.map(a, input.list)';
  for (const condition of [
    `input[${all}] == 1`,
    `input[?${all}].hasValue()`,
    `${all} in input`,
    `{${all}: 1}.all(a, true)`,
  ]) {
    const message = 'A list or a map is no key.';
    const small = { input: documentOf('{"list":[1,[2],{"a":3}]}'), output: () => null };
    assert.deepEqual(evaluateCondition(condition, small), { kind: 'error', message }, condition);
  }
});

test('a long text is no duration and no time zone', () => {
  const long = { input: documentOf(JSON.stringify({ t: '9'.repeat(65) })), output: () => null };
  for (const call of ['duration(input.t)', 'timestamp("2026-01-01T00:00:00Z").getHours(input.t)']) {
    assert.deepEqual(evaluateCondition(`size([${call}]) == 1`, long), {
      kind: 'error',
      message: 'A duration and a time zone may have 64 characters, not 65.',
    });
  }
});

test('conditions that are judged together share their time', () => {
  const { judge } = conditionJudge();
  assert.deepEqual(judge('input.n == 1', scope), { kind: 'value', value: true });
  assert.deepEqual(judge(endless, scope), tooLong);
  for (const [condition] of values) assert.deepEqual(judge(condition, scope), tooLong);
});

test('a condition is judged once, and what it spent counts only once', () => {
  const { judge } = conditionJudge();
  assert.equal(judge('input.n == 1', scope).kind, 'value');
  assert.deepEqual(judge(endless, scope), tooLong);
  assert.deepEqual(judge('input.n == 1', scope), { kind: 'value', value: true });
});

test('a condition without a loop is ended as well where what it compares is long', () => {
  const list = `[${'[1,2,3],'.repeat(200_000)}[]]`;
  const long = { input: documentOf(`{"a":${list},"b":${list}}`), output: () => null };
  const often = Array.from({ length: 60 }, () => 'input.a == input.b').join(' && ');
  const { judge } = conditionJudge();
  assert.deepEqual(judge(often, long), tooLong);
  assert.deepEqual(judge('true', long), tooLong);
});

test('a condition that looks at a whole number that no double holds fails, and no other', () => {
  const json =
    '{"big":9007199254740993,"same":9007199254740993,"list":[-1e400],"__proto__":12345678901234567890,"n":1,' +
    `"third":0.33333333333333333333,"text":"9007199254740993","${'9'.repeat(20)}":2}`;
  const long = { input: documentOf(json), output: () => null };
  const message = (number: string) =>
    `The number ${number} is no double: to compare it, send it as a text.`;
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
      evaluateCondition(condition, long),
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
    assert.deepEqual(evaluateCondition(condition, long), { kind: 'value', value: true }, condition);
  }
  const output = { ...scope, output: () => documentOf(outputOfText('9007199254740993')) };
  assert.equal(evaluateCondition('steps.a.output == 1', output).kind, 'error');
});

test('what conditions speak of is parsed once for all that are judged together', (t) => {
  const { judge } = conditionJudge();
  const own = { input: documentOf('{"n":1}'), output: scope.output };
  const parse = t.mock.method(JSON, 'parse');
  for (const n of [1, 2, 3]) judge(`input.n == ${n}`, own);
  assert.equal(parse.mock.callCount(), 1);
});

test('an error does not tell how a list is nested, of which each kind would be kept for good', () => {
  const nested = { input: documentOf('{"a":[[{"b":[1]}]],"c":{"d":[["x"]]}}'), output: () => null };
  const message = 'no such overload: dyn<list<dyn>> + dyn<map<dyn, dyn>>';
  assert.deepEqual(evaluateCondition('input.a + input.c == 1', nested), { kind: 'error', message });
});

test('a condition that is kept does not keep what it spoke of', async () => {
  const text = 'input.list.map(one, one).exists(one, one == 1)';
  const judged = () => {
    const input = { list: [1] };
    assert.equal(readCondition(text).evaluate({ input, steps: {} }), true);
    return new WeakRef(input);
  };
  const held = judged();
  setFlagsFromString('--expose-gc');
  // What a weak reference was made of lives until the turn is over.
  await new Promise(setImmediate);
  runInNewContext('gc')();
  assert.equal(held.deref(), undefined);
});
