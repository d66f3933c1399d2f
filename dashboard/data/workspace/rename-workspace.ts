import { useAction } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { meQuery } from './me.ts';

export const useRenameWorkspace = () =>
  useAction({
    run: (name: string) => cueline.updateWorkspace({ name }),
    ...{ saved: 'Saved', stale: [meQuery.queryKey] },
  });
