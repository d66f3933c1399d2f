import { type QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { DismissalInput, Me } from '../../../src/client/index.ts';
import { useAction } from '../../kit/resource.ts';
import { serverPath } from '../client/base-path.ts';
import { chooseWorkspace, cueline, currentWorkspaceId } from '../client/client.ts';
import { isSignedOut } from '../client/error-status.ts';

const userKey = 'cueline-user';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, signal }) => {
    const me = await readMe(signal);
    return isDifferentUser(me) ? resetWindow(me, client) : me;
  },
  staleTime: Number.POSITIVE_INFINITY,
  // Another window may have changed the password or signed in as another user.
  refetchOnWindowFocus: 'always',
});

/**
 * The stored workspace may be one that the user has left, or the choice of another user of this browser: every call
 * then returns 401, as without a session. Reload without the choice, or show the page for users without a workspace.
 */
async function readMe(signal: AbortSignal): Promise<Me> {
  try {
    return await cueline.me({ signal });
  } catch (error) {
    if (!isSignedOut(error) || (await cueline.session.user()) === null) throw error;
    if (currentWorkspaceId === null) location.assign(serverPath('/no-workspace'));
    else {
      chooseWorkspace(null);
      location.reload();
    }
    return new Promise(() => {});
  }
}

/**
 * An expired session does not clear session storage: without this check, the next user in this window would see drafts
 * of the last.
 */
function isDifferentUser({ user }: Me): boolean {
  const before = sessionStorage.getItem(userKey);
  sessionStorage.setItem(userKey, user.userId);
  return before !== null && before !== user.userId;
}

/** Clears drafts and typed values of the previous user, and reloads a page that still shows their data. */
function resetWindow(me: Me, queries: QueryClient): Me | Promise<never> {
  sessionStorage.clear();
  sessionStorage.setItem(userKey, me.user.userId);
  if (queries.getQueryData(meQuery.queryKey) === undefined) return me;
  location.reload();
  return new Promise(() => {});
}

/** The signed-in user, loaded before any page inside the shell renders. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

export function workspaceName(me: Me): string {
  return me.workspaces.find((one) => one.workspaceId === me.workspaceId)?.name ?? 'Workspace';
}

/** Whether the server would allow it: editors edit, execute and issue keys; owners also manage the workspace. */
export function can(me: Me, right: 'edit' | 'manage'): boolean {
  return me.role === 'owner' || (right === 'edit' && me.role === 'editor');
}

type Notice = Me['dismissed'][number]['notice'];

/** Whether the user has dismissed this notice in this workspace, for good or until later. */
export function isDismissed({ dismissed }: Me, notice: Notice): boolean {
  return dismissed.some(
    (one) => one.notice === notice && (one.until === null || Date.parse(one.until) > Date.now()),
  );
}

export const useDismiss = () =>
  useAction({
    run: (dismissal: DismissalInput) => cueline.dismiss(dismissal),
    ...{ saved: 'Dismissed', stale: [meQuery.queryKey] },
  });
