import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { nothing, valueCache } from '../../../src/flow/workflow/value-cache.ts';
import { createWorkflows, type WorkflowDeps } from '../../../src/flow/workflow/workflows.ts';

test('what runs held is forgotten with their end, however they ended', () => {
  const memory = valueCache();
  for (const runId of ['canceled', 'other']) {
    memory.add(runId, { ...nothing, input: documentOf('{}') });
  }
  const told: string[] = [];
  const parts = { memory, onEnded: ({ runId }: { runId: string }) => void told.push(runId) };
  const { onProgress } = createWorkflows(parts as unknown as WorkflowDeps);
  const end = { status: 'canceled', errorCode: 'CANCELED', error: 'x', failedStep: null } as const;
  onProgress({ ready: [], ended: [{ runId: 'canceled', workflowId: 'w', end }], stopping: [] });
  assert.deepEqual([told, memory.of('canceled')], [['canceled'], nothing]);
  assert.ok(memory.of('other').input);
});
