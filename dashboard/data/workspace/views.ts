import type { ViewInput } from '../../../src/client/index.ts';
import { resource, useAction } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

const views = resource('views', 'View', cueline.views);

export const viewsQuery = { ...views.list(), staleTime: 60_000 };

export const useSaveView = () =>
  useAction(views.action((view: ViewInput) => cueline.views.create(view), 'View saved'));

export const useUpdateView = () =>
  useAction(
    views.action(
      ({ viewId, ...patch }: Partial<ViewInput> & { readonly viewId: string }) =>
        cueline.views.update(viewId, patch),
      'View saved',
    ),
  );

export const useDeleteView = () =>
  useAction(views.action((viewId: string) => cueline.views.delete(viewId), 'View deleted'));
