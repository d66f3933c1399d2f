import type { QueryKey } from '@tanstack/react-query';
import { forget, queryClient } from './query-client.ts';
import { useWrite } from './use-single-flight.ts';

export interface Deletion {
  readonly order: () => Promise<unknown>;
  /** What lists it. */
  readonly lists: QueryKey;
  /** Called before the rest is forgotten: a page that still showed it would read anew what is there no more. */
  readonly leave: () => Promise<void>;
  /** What was read of it. */
  readonly gone: readonly QueryKey[];
}

/** Deletes what has pages of its own. */
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
