import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { View } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => cueline.views.getWithEtag({ signal }),
  staleTime: 60_000,
});

/** Replaces the views by what `change` makes of those that are shown. Fails if another tab has changed them since. */
export function useChangeViews() {
  const queries = useQueryClient();
  return useMutation({
    async mutationFn(change: (views: readonly View[]) => View[]) {
      const { views, etag } = await queries.ensureQueryData(viewsQuery);
      await cueline.views.put({ views: change(views) }, etag === null ? {} : { ifMatch: etag });
    },
    onSettled: () => queries.invalidateQueries(viewsQuery),
  });
}
