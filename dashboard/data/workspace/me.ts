import { type QueryClient, queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { Me } from '../../../src/client/index.ts';
import { chooseWorkspace, cueline, workspaceOfPage } from '../client/client.ts';
import { isSignedOut } from '../client/signed-out.ts';

const userKey = 'cueline-user';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, signal }) => {
    const me = await readMe(signal);
    return isSomebodyElse(me) ? beginAnew(me, client) : me;
  },
  staleTime: Number.POSITIVE_INFINITY,
  // Another window may have chosen a password meanwhile, or signed in as somebody else.
  refetchOnWindowFocus: 'always',
});

/**
 * A workspace that was chosen may be theirs no longer, or may have been the choice of whoever used this browser before:
 * then every call is answered 401, as without a session. So the page begins anew without it; and where they are a member
 * of none, with the page that says so.
 */
async function readMe(signal: AbortSignal): Promise<Me> {
  try {
    return await cueline.me({ signal });
  } catch (error) {
    if (!isSignedOut(error) || (await cueline.session.user()) === null) throw error;
    if (workspaceOfPage === null) location.assign('/no-workspace');
    else {
      chooseWorkspace(null);
      location.reload();
    }
    return new Promise(() => {});
  }
}

/** A session that ran out is not signed out of: whoever signs in next in this window finds what was written in it. */
function isSomebodyElse({ user }: Me): boolean {
  const before = sessionStorage.getItem(userKey);
  sessionStorage.setItem(userKey, user.userId);
  return before !== null && before !== user.userId;
}

/** Drafts and values go with whoever wrote them, and so does a page of theirs that is still shown. */
function beginAnew(me: Me, queries: QueryClient): Me | Promise<never> {
  sessionStorage.clear();
  sessionStorage.setItem(userKey, me.user.userId);
  if (queries.getQueryData(meQuery.queryKey) === undefined) return me;
  location.reload();
  return new Promise(() => {});
}

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
