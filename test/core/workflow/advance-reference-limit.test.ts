import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advance } from '../../../src/core/workflow/advance.ts';
import {
  referredCharsMax,
  type StepDefinition,
  type WorkflowDefinition,
} from '../../../src/core/workflow/definition.ts';
import { fresh } from '../../../src/core/workflow/step-state.ts';
import { wholeOf } from './run-state-of.ts';

/** Lists that started before the limit on referenced outputs existed. */
test('a started list whose references exceed the limit fails once no item is in progress', () => {
  const nothing = { after: [], when: null, forEach: null, fallback: null } as const;
  const step = {
    agentId: 'agt_x',
    variables: {},
    onFailure: 'fail',
    onUnreadable: 'fail',
    ...nothing,
  } as const;
  const list: StepDefinition = {
    ...step,
    name: 'list',
    variables: { x: '{{steps.a.output[0]}}' },
    forEach: { list: [1, 2, 3], concurrency: 2, max: 3 },
  };
  const definition: WorkflowDefinition = {
    input: { required: [], optional: [], defaults: {} },
    timeoutMs: 1_000,
    steps: [{ ...step, name: 'a' }, list],
    output: null,
  };
  const after = (inProgress: number) => {
    const items = [0, 1].map((item) => ({
      ...fresh('list', item),
      status: item <= inProgress ? ('processing' as const) : ('success' as const),
      executionId: `e${item}`,
    }));
    const rows = [
      { ...fresh('a', -1), status: 'success' as const },
      { ...fresh('list', -1), status: 'processing' as const, itemsCount: 3 },
      ...items,
    ];
    const whole = wholeOf('{}', rows);
    const outputChars = new Map([['a', referredCharsMax + 1]]);
    const outcome = { kind: 'success', text: '1' } as const;
    const event = { step: 'list', item: 0, executionId: 'e0', fallback: false, outcome };
    const result = advance(definition, { ...whole, outputChars }, [event]);
    assert.ok(result.kind === 'advanced');
    return result.changed.map((one) => [one.item, one.status, one.errorCode]);
  };
  assert.deepEqual(after(1), [[0, 'success', null]]);
  assert.deepEqual(after(0), [
    [0, 'success', null],
    [-1, 'failed', 'VALUES_TOO_LARGE'],
  ]);
});
