import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Announcements, type AnnouncementsDeps } from '../../src/flow/announcements.ts';
import { progressed } from '../../src/flow/completions.ts';
import type { EndedWorkflowRun, Progress } from '../../src/flow/workflow/progress.ts';
import { noValues } from '../../src/flow/workflow/value-cache.ts';

/** Announcements, and what they woke and sent. */
function announcer() {
  const woken: string[] = [];
  const sent: [channel: string, ids: readonly string[]][] = [];
  const deps = {
    notifications: {
      publish: (channel: string, ids: readonly string[] = []) => void sent.push([channel, ids]),
    },
    waiters: { wake: () => {} },
    streams: { wake: (ids: readonly string[]) => void woken.push(...ids) },
    metrics: { workflowRunEnded: () => {} },
    log: { workflowRunEnded: () => {} },
  };
  return { announcements: new Announcements(deps as unknown as AnnouncementsDeps), woken, sent };
}

test('readers of a workflow run learn that its steps changed, here and in other processes', () => {
  const { announcements, woken, sent } = announcer();
  const ended: EndedWorkflowRun = {
    ...{ runId: 'ended', workflowId: 'w' },
    end: { status: 'success', output: '1' },
  };
  const progress: Progress = {
    ...{ ready: [], stopping: [], faults: [], ended: [ended] },
    learned: new Map([
      ['advanced', noValues],
      ['ended', noValues],
    ]),
  };
  announcements.announceCompletion(progressed(progress, false));
  assert.deepEqual(woken, ['ended', 'advanced']);
  assert.deepEqual(sent, [
    ['cueline_workflow_run_ended', ['ended']],
    ['cueline_workflow_run_advanced', ['advanced']],
  ]);
});
