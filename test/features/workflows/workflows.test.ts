import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf } from '../../../src/core/workflow/document.ts';
import { noValues, valueCache } from '../../../src/engine/advance/value-cache.ts';
import {
  createWorkflows,
  type WorkflowDeps,
} from '../../../src/features/workflows/verbs/workflow-engine.ts';

/** Workflows, and what they published and reported. */
function observedWorkflows() {
  const values = valueCache();
  const published: [channel: string, ids: readonly string[]][] = [];
  const subscribed = new Map<string, (ids: readonly string[]) => void>();
  const endedRuns: string[] = [];
  const deps = {
    values,
    onEnded: ({ runId }: { runId: string }) => void endedRuns.push(runId),
    notifications: {
      subscribe: (channel: string, listener: (ids: readonly string[]) => void) =>
        void subscribed.set(channel, listener),
      publish(channel: string, ids: readonly string[] = []) {
        published.push([channel, ids]);
        subscribed.get(channel)?.(ids);
      },
    },
  };
  const { progressed } = createWorkflows(deps as unknown as WorkflowDeps);
  return { progressed, values, published, endedRuns };
}

const end = { status: 'canceled', errorCode: 'CANCELED', error: 'x', failedStep: null } as const;
const values = { ...noValues, input: documentOf('{}') };
const progress = {
  ...{ ready: [], stopping: [], faults: [], ended: [{ runId: 'ended', workflowId: 'w', end }] },
  learned: new Map([
    ['ended', values],
    ['advanced', values],
  ]),
};

test('the values of ended workflow runs are evicted, however they ended', () => {
  const workflows = observedWorkflows();
  workflows.values.add('ended', values);
  workflows.progressed(progress);
  assert.deepEqual(workflows.values.of('ended'), noValues);
  assert.ok(workflows.values.of('advanced').input);
});

test('it is published which workflow runs ended, which advanced, and whether events must be sent', () => {
  const { progressed, published, endedRuns } = observedWorkflows();
  progressed(progress, true);
  assert.deepEqual(published, [
    ['cueline_workflow_run_ended', ['ended']],
    ['cueline_workflow_run_advanced', ['advanced']],
    ['cueline_event_queued', []],
  ]);
  assert.deepEqual(endedRuns, ['ended']);
});
