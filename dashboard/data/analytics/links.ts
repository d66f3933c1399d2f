import { joinValues } from '../../../src/client/index.ts';
import type { Grouping } from './analytics-search.ts';
import type { Group } from './groups.ts';

/** Links from figures to the list of the executions behind them. */

export interface Span {
  readonly startMs: number;
  /** Null: up to now. */
  readonly endMs: number | null;
}

/** Search parameters of the list. */
export type ListFilters = Readonly<Record<string, string | number | undefined>>;

export interface ListLink {
  readonly agentId: string | undefined;
  readonly search: ListFilters;
}

const filterOf: Partial<Record<Grouping, string>> = {
  model: 'model',
  version: 'promptVersionId',
  key: 'apiKeyId',
  status: 'status',
  errorCode: 'errorCode',
  source: 'source',
  user: 'user',
  tag: 'tag',
};

/** The executions of a group. Null if the list has no filter for it: executions without a key, or the rest of the values. */
export function linkToGroup(
  agentId: string | undefined,
  grouping: Grouping,
  group: Group | null,
  span: Span,
  more: ListFilters = {},
): ListLink | null {
  const search = { ...inSpan(span), ...more };
  if (group === null || grouping === 'none') return { agentId, search };
  if (group.other) return null;
  if (grouping === 'agent') return { agentId: group.agentId, search };
  const own = agentId ?? group.agentId;
  // Only failures have an error code.
  if (grouping === 'errorCode' && group.value === null) {
    return more.status === undefined ? { agentId, search: { ...search, status: 'success' } } : null;
  }
  const name = filterOf[grouping];
  if (group.value === null || name === undefined) return null;
  // The list takes one tag, and several values of everything else.
  const value = grouping === 'tag' ? group.value : joinValues([group.value]);
  return { agentId: own, search: { ...search, [name]: value } };
}

function inSpan({ startMs, endMs }: Span): ListFilters {
  return {
    startDate: new Date(startMs).toISOString(),
    ...(endMs !== null && { endDate: new Date(endMs).toISOString() }),
  };
}
