import type { Agent } from '../../../src/client/index.ts';
import { readOffset, toText } from '../../data/client/search-params.ts';

export const stages = [
  'Draft',
  'Testing',
  'Deployed',
  'Paused',
] as const satisfies Agent['status'][];

/** The filters of the list, as search parameters. */
export interface AgentsSearch {
  readonly q?: string;
  readonly status?: Agent['status'];
  readonly project?: string;
  readonly tag?: string;
  readonly archived?: true;
  readonly offset?: number;
}

/** Drops invalid values: a mistyped URL shows more results, not an error. */
export function readSearch(given: Record<string, unknown>): AgentsSearch {
  const text = (name: string) => {
    const value = given[name];
    return value === undefined || value === '' ? {} : { [name]: toText(value) };
  };
  const status = stages.find((stage) => stage === given.status);
  return {
    ...text('q'),
    ...(status && { status }),
    ...text('project'),
    ...text('tag'),
    ...(given.archived === true && { archived: true }),
    ...readOffset(given),
  };
}
