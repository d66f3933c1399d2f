import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { isTooLarge } from '../analytics/analytics.ts';
import { cueline } from '../client/client.ts';
import type { TimeRange } from './periods.ts';

/** The values of a field among recent executions, with their numbers: what the list can be filtered by. */

export interface FacetValue {
  readonly value: string;
  readonly label: string;
  readonly count: number;
}

const groupings = {
  errorCode: 'errorCode',
  model: 'model',
  promptVersionId: 'version',
  apiKeyId: 'key',
  user: 'user',
  agentId: 'agent',
} as const;
export type Facet = keyof typeof groupings;

/** Before any execution. */
const beginning = '2020-01-01';

/** With `statuses`, only executions with one of these statuses count. */
export function facetQuery(
  facet: Facet,
  agentIds: readonly string[],
  range: TimeRange,
  statuses: readonly string[] = [],
) {
  const { startDate, endDate } = range;
  // Versions of several prompts have equal labels.
  const grouping =
    facet === 'promptVersionId' && agentIds.length !== 1 ? 'agent,version' : groupings[facet];
  const query = {
    level: 'all',
    // The statistics have no filter for the status.
    groupBy: statuses.length > 0 ? `${grouping},status` : grouping,
    ...(agentIds.length > 0 && { agentIds: agentIds.join() }),
    ...(startDate !== undefined && { startDate }),
    ...(endDate !== undefined && { endDate }),
  } as const;
  return queryOptions({
    queryKey: ['execution facets', query, statuses],
    queryFn: async ({ signal }): Promise<FacetValue[]> => {
      const read = (more = {}) => cueline.statistics({ ...query, ...more }, { signal });
      // Without a start, statistics have one of their own. A list has none.
      const { buckets } =
        startDate === undefined
          ? await read({ startDate: beginning }).catch((error) => {
              if (!isTooLarge(error)) throw error;
              return read();
            })
          : await read();
      const byValue = Map.groupBy(
        buckets.filter(({ count, status }) => count > 0 && isCounted(status, statuses)),
        (bucket) => bucket[facet],
      );
      const values = [...byValue].flatMap(([value, same]) => {
        if (typeof value !== 'string') return [];
        const count = same.reduce((sum, one) => sum + one.count, 0);
        return { value, label: labelOf(facet, same) ?? value, count };
      });
      return values.sort((one, other) => other.count - one.count);
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

/** How many executions of a list have each of these error codes, most frequent first: counted as the list counts them. */
export function codeCountsQuery(
  agentId: string | undefined,
  { include: _, ...filters }: ExecutionFilters,
  codes: readonly string[],
) {
  return queryOptions({
    queryKey: ['execution facets', 'counts', agentId ?? null, filters, codes],
    queryFn: async ({ signal }) => {
      const counts = await Promise.all(
        codes.map(async (value) => {
          const one = { ...filters, errorCode: [value], omit: 'bodies', limit: 1 };
          const page = await cueline.list(agentId ?? null, one as ExecutionFilters, { signal });
          return { value, count: page.pagination.total };
        }),
      );
      return counts.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count);
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

function isCounted(status: string | undefined, statuses: readonly string[]): boolean {
  return statuses.length === 0 || (status !== undefined && statuses.includes(status));
}

type Buckets = Awaited<ReturnType<typeof cueline.statistics>>['buckets'];

/** The name of a value; of a version of several agents, with one of them. */
function labelOf(facet: Facet, [first, ...others]: Buckets): string | undefined {
  if (facet === 'agentId') return first?.agentName ?? undefined;
  const label = facet === 'promptVersionId' ? first?.promptVersionLabel : undefined;
  if (!label || first?.agentId === undefined) return label ?? undefined;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${first.agentName ?? 'Deleted agent'}${more}, ${label}`;
}
