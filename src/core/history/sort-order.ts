/** How a list of executions is sorted. */

export const sortKeys = ['executedAt', 'costUSD', 'latencyMs', 'tokensUsed'] as const;
export type SortKey = (typeof sortKeys)[number];

/** As in the API: `-` sorts in descending order. */
export type Sort = SortKey | `-${SortKey}`;
export const sorts: readonly Sort[] = sortKeys.flatMap((key) => [`-${key}`, key] as const);

/** Equal values are in the order of their ids, in the same direction. Executions that have not ended have no figures and come last. */
export interface SortOrder {
  readonly by: SortKey;
  readonly isDescending: boolean;
}

export const newestFirst: SortOrder = { by: 'executedAt', isDescending: true };

export function readSort(sort: Sort): SortOrder {
  const isDescending = sort.startsWith('-');
  return { by: (isDescending ? sort.slice(1) : sort) as SortKey, isDescending };
}

/** The maximum number of matches that are read to sort or to sum up a list: of more, the newest. */
export const sortedMax = 100_000;
