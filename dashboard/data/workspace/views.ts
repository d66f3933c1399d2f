import { queryOptions } from '@tanstack/react-query';
import type { ViewInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => cueline.views.list({ signal }),
  staleTime: 60_000,
});

export const useSaveView = () =>
  useInvalidatingMutation((view: ViewInput) => cueline.views.create(view), ['views'], 'View saved');

export const useUpdateView = () =>
  useInvalidatingMutation(
    ({ viewId, ...patch }: Partial<ViewInput> & { readonly viewId: string }) =>
      cueline.views.update(viewId, patch),
    ['views'],
    'View saved',
  );

export const useDeleteView = () =>
  useInvalidatingMutation(
    (viewId: string) => cueline.views.delete(viewId),
    ['views'],
    'View deleted',
  );
