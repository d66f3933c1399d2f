import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputOfAnswers, type StepAnswer } from '../../../src/core/workflow/rerun.ts';

const answer = (some: Partial<StepAnswer>): StepAnswer => ({
  ...{ step: 's', item: -1, status: 'success', itemsCount: null, output: null, outputJson: null },
  ...some,
});

test('the output of a step is what its execution answered', () => {
  assert.equal(outputOfAnswers([answer({ output: 'a "b"' })]), '"a \\"b\\""');
  assert.equal(outputOfAnswers([answer({ output: '{"n": 1}', outputJson: '{"n":1}' })]), '{"n":1}');
  // Not stored, or the fixed output of a fallback.
  assert.equal(outputOfAnswers([answer({})]), null);
});

test('the output of a step with items is the list of theirs, null for those that failed', () => {
  const step = answer({ itemsCount: 3 });
  const [first, second, third] = [
    answer({ item: 0, output: 'a' }),
    answer({ item: 1, status: 'failed' }),
    answer({ item: 2, output: '[1]' }),
  ];
  assert.equal(outputOfAnswers([step, first, second, third]), '["a",null,[1]]');
  assert.equal(outputOfAnswers([step, first, second, answer({ item: 2 })]), null);
  assert.equal(outputOfAnswers([answer({ itemsCount: 0 })]), '[]');
});
