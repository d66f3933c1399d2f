import type { Agent } from '../../../src/client/index.ts';
import { asText, readOffset } from '../../data/client/search-params.ts';

export const stages = [
  'Draft',
  'Testing',
  'Deployed',
  'Paused',
] as const satisfies Agent['status'][];

/** The filters of the list, as they stand in the address. */
export interface AgentsSearch {
  readonly q?: string;
  readonly status?: Agent['status'];
  readonly project?: string;
  readonly tag?: string;
  readonly archived?: true;
  readonly offset?: number;
}

/** What makes no sense is left out: an address that was mistyped shows more, and not an error. */
export function readSearch(given: Record<string, unknown>): AgentsSearch {
  const text = (name: string) => {
    const value = given[name];
    return value === undefined || value === '' ? {} : { [name]: asText(value) };
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
