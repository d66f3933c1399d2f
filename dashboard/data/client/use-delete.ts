import type { QueryKey } from '@tanstack/react-query';
import { forget, queryClient } from './query-client.ts';
import { useWrite } from './use-single-flight.ts';

export interface Deletion {
  readonly order: () => Promise<unknown>;
  /** The list to refetch. */
  readonly lists: QueryKey;
  /** Leaves the page before cached data is dropped: a mounted page would refetch the deleted resource. */
  readonly leave: () => Promise<void>;
  /** Cached queries of the resource. */
  readonly gone: readonly QueryKey[];
}

/** Deletes a resource that has its own pages. */
export function useDeletion({ order, lists, leave, gone }: Deletion) {
  return useWrite(
    {
      mutationFn: order,
      onSuccess: async () => {
        void queryClient.invalidateQueries({ queryKey: lists });
        await leave();
        for (const queryKey of gone) forget(queryKey);
      },
    },
    { leadsAway: true },
  );
}
