import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCondition } from '../../src/core/condition.ts';
import { type ConditionScope, conditionJudge } from '../../src/core/condition-judge.ts';
import { documentOf } from '../../src/core/document.ts';
import { outputOfText } from '../../src/core/step-output.ts';

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
];
for (const [condition, value] of values) {
  test(`condition: ${condition}`, () => {
    assert.equal(checkCondition(condition).problem, null);
    assert.deepEqual(evaluateCondition(condition, scope), { kind: 'value', value });
  });
}

const broken: [condition: string, problem: RegExp][] = [
  ['steps.triage.output ==', /./],
  ['other.a == 1', /Unknown variable: other/],
  ['1 + 1', /gives a int/],
  ['steps.size() > 1', /followed by the name/],
  ['steps[input.name].output == 1', /followed by the name/],
  ['input.list.exists(steps, steps == 1)', /followed by the name/],
  ['input.name.matches("(a+)+$")', /not available/],
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
  const list = `[${'[1,2,3],'.repeat(40_000)}[]]`;
  const long = { input: documentOf(`{"a":${list},"b":${list}}`), output: () => null };
  const often = Array.from({ length: 60 }, () => 'input.a == input.b').join(' && ');
  const { judge } = conditionJudge();
  assert.deepEqual(judge(often, long), tooLong);
  assert.deepEqual(judge('true', long), tooLong);
});

test('what conditions speak of is parsed once for all that are judged together', (t) => {
  const { judge } = conditionJudge();
  const own = { input: documentOf('{"n":1}'), output: scope.output };
  const parse = t.mock.method(JSON, 'parse');
  for (const n of [1, 2, 3]) judge(`input.n == ${n}`, own);
  assert.equal(parse.mock.callCount(), 1);
});
