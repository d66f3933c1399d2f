import { readOffset } from '../../data/client/search-params.ts';
import type { RunStatus } from '../../data/workflows/workflow-runs.ts';

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
  return { ...(status && { status }), ...readOffset(given) };
}
