import type { Agent, AgentFilters } from '../../../src/client/index.ts';
import { readOffset, toText } from '../../data/client/search-params.ts';

export const stages = [
  'Draft',
  'Testing',
  'Deployed',
  'Paused',
] as const satisfies Agent['status'][];

type AgentSort = NonNullable<AgentFilters['sort']>;

/** The orders that the page offers; without one, the newest agent is first. */
export const sorts = [
  { value: 'createdAt', label: 'Oldest first' },
  { value: 'name', label: 'Name A–Z' },
  { value: '-name', label: 'Name Z–A' },
  { value: '-updatedAt', label: 'Last changed' },
  { value: '-executions', label: 'Most executions' },
  { value: '-failures', label: 'Most failures' },
  { value: '-costUSD', label: 'Highest cost' },
] as const satisfies { value: AgentSort; label: string }[];

/** The filters of the list, as search parameters. */
export interface AgentsSearch {
  readonly q?: string;
  readonly status?: Agent['status'];
  readonly project?: string;
  readonly tag?: string;
  readonly promptId?: string;
  readonly promptVersionId?: string;
  readonly model?: string;
  readonly sort?: AgentSort;
  readonly archived?: true;
  readonly offset?: number;
}

/** Drops invalid values: a mistyped URL shows more results, not an error. */
export function readSearch(given: Record<string, unknown>): AgentsSearch {
  const text = (name: string) => {
    const value = given[name];
    return value === undefined || value === '' ? {} : { [name]: toText(value) };
  };
  const sort = sorts.find(({ value }) => value === given.sort)?.value;
  const status = stages.find((stage) => stage === given.status);
  return {
    ...text('q'),
    ...(status && { status }),
    ...text('project'),
    ...text('tag'),
    ...text('promptId'),
    ...text('promptVersionId'),
    ...text('model'),
    ...(sort && { sort }),
    ...(given.archived === true && { archived: true }),
    ...readOffset(given),
  };
}
