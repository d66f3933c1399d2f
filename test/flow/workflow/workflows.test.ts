import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { progressed } from '../../../src/flow/completions.ts';
import { noValues, valueCache } from '../../../src/flow/workflow/value-cache.ts';
import { createWorkflows, type WorkflowDeps } from '../../../src/flow/workflow/workflows.ts';

test('a completion evicts the values of ended workflow runs, however they ended', () => {
  const values = valueCache();
  for (const runId of ['canceled', 'other']) {
    values.add(runId, { ...noValues, input: documentOf('{}') });
  }
  const { onCompletion } = createWorkflows({ values } as unknown as WorkflowDeps);
  const end = { status: 'canceled', errorCode: 'CANCELED', error: 'x', failedStep: null } as const;
  const ended = [{ runId: 'canceled', workflowId: 'w', end }];
  const learned = new Map([['canceled', { ...noValues, input: documentOf('{}') }]]);
  onCompletion(progressed({ ready: [], ended, stopping: [], learned, faults: [] }, false));
  assert.deepEqual(values.of('canceled'), noValues);
  assert.ok(values.of('other').input);
});
