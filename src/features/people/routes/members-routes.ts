import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest } from '../../../core/failure.ts';
import { canDismiss } from '../../../core/people/notice.ts';
import { bearerHash, requireCredential, unauthorized } from '../../../http/request/credential.ts';
import { checkQuery, noFields } from '../../../http/request/validate.ts';
import { route, routePath, send } from '../../../http/route.ts';
import { requireWholeWorkspace } from '../access/require-permission.ts';
import type { SessionDeps } from '../access/session-deps.ts';
import {
  deleteMe,
  dismissNotice,
  getMe,
  listIdentityProviders,
  listMembers,
  removeMember,
  updateMember,
} from '../contract/members-contract.ts';
import { listDismissals, putDismissal } from '../statements/dismissals.ts';
import * as store from '../statements/members.ts';
import { findUser, hasGeneratedPassword } from '../statements/users.ts';
import * as flow from '../verbs/change-member.ts';
import { deleteAccount } from '../verbs/delete-account.ts';

/** The signed-in user, and the members of a workspace. */
export function memberRoutes(app: FastifyInstance, deps: SessionDeps): void {
  const { db, sessions } = deps;

  route(app, deps, getMe, async ({ caller }) => {
    const user = await findUser(db, caller.id);
    if (!user || caller.role === null) throw unauthorized();
    const result = {
      user: { ...user, userId: user.id },
      workspaceId: caller.workspaceId,
      role: caller.role,
      workspaces: await store.listMemberships(db, user.id),
      generatedPassword: await hasGeneratedPassword(db, user.id),
      dismissed: await listDismissals(db, memberOf(caller)),
    };
    return { result };
  });

  route(app, deps, dismissNotice, async ({ caller, body }) => {
    if (body.days === null && !canDismiss(body.notice)) {
      throw invalidRequest(`Field "days" must be a number for "${body.notice}".`);
    }
    const row = await putDismissal(db, memberOf(caller), body);
    if (row === null) throw unauthorized();
    return { result: row };
  });

  app.route({
    method: deleteMe.method,
    url: routePath(deleteMe),
    async handler(request, reply) {
      const userId = await identifyUser(request);
      checkQuery(noFields, request.query as Record<string, unknown>);
      await deleteAccount(db, userId);
      send(reply, { status: 204, body: null });
      return reply;
    },
  });

  /** The user of the session, who need not be a member of any workspace. Keys get the same responses as elsewhere. */
  async function identifyUser(request: FastifyRequest): Promise<string> {
    requireCredential(request);
    if (bearerHash(request) !== null) await deps.authenticator.authenticate(request, deleteMe);
    sessions.checkSameOrigin(request);
    const userId = await sessions.user(request);
    if (userId === null) throw unauthorized();
    return userId;
  }

  route(app, deps, listMembers, async ({ caller }) => {
    return { result: { members: await store.listMembers(db, caller.workspaceId) } };
  });

  route(app, deps, updateMember, async ({ caller, ids, body }) => {
    requireWholeWorkspace(caller);
    return { result: await flow.changeRole(db, caller, ids.userId, body.role) };
  });

  route(app, deps, removeMember, async ({ caller, ids }) => {
    requireWholeWorkspace(caller);
    await flow.removeMember(db, caller, ids.userId);
    return { result: null };
  });

  route(app, deps, listIdentityProviders, async () => {
    const { identityProviders, passwordReset } = sessions;
    return { result: { identityProviders, passwordReset } };
  });
}

/** The member whose session it is. */
function memberOf({ id, workspaceId }: { readonly id: string; readonly workspaceId: string }) {
  return { userId: id, workspaceId };
}
