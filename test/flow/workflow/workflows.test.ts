import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { noValues, valueCache } from '../../../src/flow/workflow/value-cache.ts';
import { createWorkflows, type WorkflowDeps } from '../../../src/flow/workflow/workflows.ts';

test('onProgress evicts the values of ended workflow runs, however they ended', () => {
  const values = valueCache();
  for (const runId of ['canceled', 'other']) {
    values.add(runId, { ...noValues, input: documentOf('{}') });
  }
  const ended: string[] = [];
  const announcements = {
    workflowRunEnded: ({ runId }: { runId: string }) => void ended.push(runId),
  };
  const { onProgress } = createWorkflows({ values, announcements } as unknown as WorkflowDeps);
  const end = { status: 'canceled', errorCode: 'CANCELED', error: 'x', failedStep: null } as const;
  onProgress({ ready: [], ended: [{ runId: 'canceled', workflowId: 'w', end }], stopping: [] });
  assert.deepEqual([ended, values.of('canceled')], [['canceled'], noValues]);
  assert.ok(values.of('other').input);
});
