import { readOffset } from '../../data/client/search-params.ts';
import type { WorkflowRunStatus } from '../../data/workflows/workflow-runs.ts';

export const runStatuses = [
  'processing',
  'success',
  'failed',
  'canceled',
] as const satisfies WorkflowRunStatus[];

export interface RunsSearch {
  readonly status?: WorkflowRunStatus;
  readonly failedItems?: 'true';
  readonly offset?: number;
}

export function readRunsSearch(given: Record<string, unknown>): RunsSearch {
  const status = runStatuses.find((one) => one === given.status);
  return {
    ...(status && { status }),
    ...(given.failedItems ? { failedItems: 'true' as const } : {}),
    ...readOffset(given),
  };
}
