import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { Me } from '../../src/client/index.ts';
import { cueline } from './client.ts';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => cueline.me({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Who is signed in; read before any page below the shell is shown. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

export function workspaceName(me: Me): string {
  return me.workspaces.find((one) => one.workspaceId === me.workspaceId)?.name ?? 'Workspace';
}

/** Whether the server would let them: an editor edits, executes and issues keys, an owner also manages. */
export function may(me: Me, right: 'edit' | 'own'): boolean {
  return me.role === 'owner' || (right === 'edit' && me.role === 'editor');
}
