import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  getInvitation,
  getMe,
  type Invitation,
  listIdentityProviders,
  listInvitations,
  listMembers,
  type Member,
  removeMember,
  updateMember,
} from '../../../contract/workspace/members.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import { hashToken } from '../../../core/people/token.ts';
import * as acceptance from '../../../flow/workspace/accept-invitation.ts';
import * as change from '../../../flow/workspace/change-member.ts';
import { invite, withdraw } from '../../../flow/workspace/invite.ts';
import * as invitations from '../../../store/people/invitations.ts';
import * as members from '../../../store/people/members.ts';
import { findUser, hasGeneratedPassword } from '../../../store/people/users.ts';
import { unauthorized } from '../../access/authenticate.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import { guard } from '../../access/sign-in-guard.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** Who is signed in, members, and invitations. */
export function memberRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db, sessions } = parts;

  route(app, parts, getMe, async ({ caller }) => {
    const user = await findUser(db, caller.id);
    if (!user || caller.role === null) throw unauthorized();
    const workspaces = await members.listMemberships(db, user.id);
    const body = {
      user: { userId: toId('user', user.id), email: user.email, name: user.name },
      workspaceId: toId('workspace', caller.workspaceId),
      role: caller.role,
      workspaces: workspaces.map(membershipWire),
      generatedPassword: await hasGeneratedPassword(db, user.id),
    };
    return { status: 200, body };
  });

  route(app, parts, listMembers, async ({ caller }) => {
    const rows = await members.listMembers(db, caller.workspaceId);
    return { status: 200, body: { members: rows.map(memberWire) } };
  });

  route(app, parts, updateMember, async ({ caller, params, body }) => {
    requireWholeWorkspace(caller);
    const member = await change.changeRole(db, caller, memberId(params.userId), body.role);
    return { status: 200, body: memberWire(member) };
  });

  route(app, parts, removeMember, async ({ caller, params }) => {
    requireWholeWorkspace(caller);
    await change.removeMember(db, caller, memberId(params.userId));
    return { status: 204, body: null };
  });

  route(app, parts, createInvitation, async ({ caller, body, request }) => {
    requireWholeWorkspace(caller);
    const { row, token } = await invite(db, caller, body);
    const url = sessions.link(request, `/invitations/${token}`);
    return { status: 201, body: { ...invitationWire(row), url } };
  });

  route(app, parts, listInvitations, async ({ caller }) => {
    requireWholeWorkspace(caller);
    const rows = await invitations.listInvitations(db, caller.workspaceId);
    return { status: 200, body: { invitations: rows.map(invitationWire) } };
  });

  route(app, parts, deleteInvitation, async ({ caller, params }) => {
    requireWholeWorkspace(caller);
    const id = fromId('invitation', params.invitationId);
    if (id === null || !(await withdraw(db, caller, id))) {
      throw new CallFailure('NOT_FOUND', 'There is no such invitation.');
    }
    return { status: 204, body: null };
  });

  route(app, parts, listIdentityProviders, async () => {
    return { status: 200, body: { identityProviders: [...sessions.identityProviders] } };
  });

  route(app, parts, getInvitation, async ({ params: { token }, request }) => {
    const opened = await byLink(request, token, (hash) => acceptance.openInvitation(db, hash));
    const { email, expiresAt: until, ...membership } = opened;
    const expiresAt = until.toISOString();
    return { status: 200, body: { email, ...membershipWire(membership), expiresAt } };
  });

  route(app, parts, acceptInvitation, async ({ body: { token, name, password }, request }) => {
    const signedInAs = await sessions.user(request);
    const member = await byLink(request, token, (tokenHash) => {
      const accepted = { tokenHash, name, password, signedInAs };
      return acceptance.acceptInvitation(db, accepted, sessions.hashPassword);
    });
    const { userId, email, ...membership } = member;
    const body = { userId: toId('user', userId), email, ...membershipWire(membership) };
    return { status: 200, body };
  });

  /** A link that is good for nothing counts as a guess. */
  async function byLink<Found>(
    { ip }: FastifyRequest,
    token: string,
    find: (tokenHash: Buffer) => Promise<Found | null>,
  ): Promise<Found> {
    const hash = hashToken(token);
    const attempt = { ip, path: '/invitations', account: hash.toString('base64url') };
    const { found } = await guard(db, attempt, async () => {
      const found = await find(hash);
      return { ok: found !== null, found };
    });
    if (found === null) throw acceptance.invitationNotFound();
    return found;
  }
}

function memberId(wireId: string): string {
  const userId = fromId('user', wireId);
  if (userId === null) throw new CallFailure('NOT_FOUND', 'There is no such member.');
  return userId;
}

function memberWire(row: members.MemberRow): Member {
  const userId = toId('user', row.userId);
  return { ...row, userId, joinedAt: row.joinedAt.toISOString() };
}

function membershipWire({ workspaceId, name, role }: members.Membership) {
  return { workspaceId: toId('workspace', workspaceId), name, role };
}

function invitationWire(row: invitations.InvitationRow): Invitation {
  return {
    invitationId: toId('invitation', row.id),
    email: row.email,
    role: row.role,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.invitedBy === null ? null : toId('user', row.invitedBy),
    expiresAt: row.expiresAt.toISOString(),
  };
}
