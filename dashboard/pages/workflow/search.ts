import type { RunStatus } from '../../data/workflow-runs.ts';

export const runStatuses = [
  'processing',
  'success',
  'failed',
  'canceled',
] as const satisfies RunStatus[];

export interface RunsSearch {
  readonly status?: RunStatus;
  readonly offset?: number;
}

export function readRunsSearch(given: Record<string, unknown>): RunsSearch {
  const status = runStatuses.find((one) => one === given.status);
  const offset = Number(given.offset);
  return {
    ...(status && { status }),
    ...(Number.isSafeInteger(offset) && offset > 0 && { offset }),
  };
}
