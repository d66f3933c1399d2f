import type { ExecutionFilters } from '../../../../src/client/index.ts';
import { periodRange } from '../../../data/executions/periods.ts';
import { errorCodes } from '../error-remedies.ts';
import { type HistorySearch, type statuses, valuesOf } from '../search.ts';

/** The search parameters as a request. Running executions have no record: they are listed unless only ended ones are wanted. */
export function filtersAt(
  search: HistorySearch,
  agentId: string | undefined,
  nowMs: number,
): ExecutionFilters {
  const { offset: _, open: __, period, status, errorCode, agentId: agents, ...same } = search;
  const wanted = valuesOf(status);
  const isRunningListed = wanted.length === 0 || wanted.includes('processing');
  const codes = valuesOf(errorCode).filter((code) => errorCodes.some((one) => one === code));
  return {
    ...same,
    ...(period && periodRange(period, nowMs)),
    ...(isRunningListed && { include: 'processing' }),
    ...(wanted.length > 0 && { status: wanted as (typeof statuses)[number][] }),
    ...(codes.length > 0 && { errorCode: codes as (typeof errorCodes)[number][] }),
    ...(agents !== undefined && agentId === undefined && { agentId: valuesOf(agents) }),
  } as ExecutionFilters;
}

/** Only records are exported. Null if the list shows nothing but running executions. */
export function exportFilters({
  include: _,
  ...filters
}: ExecutionFilters): ExecutionFilters | null {
  if (filters.status === undefined) return filters;
  const status = [filters.status].flat().filter((one) => one !== 'processing');
  return status.length === 0 ? null : { ...filters, status };
}
