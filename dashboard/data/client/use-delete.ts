import type { QueryKey } from '@tanstack/react-query';
import { queryClient, resetQuery } from './query-client.ts';
import { useSingleFlight } from './use-single-flight.ts';

export interface DeleteOptions {
  readonly deleteFn: () => Promise<unknown>;
  /** The list to refetch. */
  readonly listKey: QueryKey;
  /** Leaves the page before cached data is dropped: a mounted page would refetch the deleted resource. */
  readonly navigateAway: () => Promise<void>;
  /** Cached queries of the resource. */
  readonly obsoleteKeys: readonly QueryKey[];
}

/** Deletes a resource that has its own pages. */
export function useDelete({ deleteFn, listKey, navigateAway, obsoleteKeys }: DeleteOptions) {
  return useSingleFlight(
    {
      mutationFn: deleteFn,
      meta: { saved: 'Deleted' },
      onSuccess: async () => {
        void queryClient.invalidateQueries({ queryKey: listKey });
        await navigateAway();
        for (const queryKey of obsoleteKeys) resetQuery(queryKey);
      },
    },
    { leadsAway: true },
  );
}
