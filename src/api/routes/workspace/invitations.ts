import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  getInvitation,
  type Invitation,
  listInvitations,
} from '../../../contract/workspace/members.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import { invitationMail } from '../../../core/people/mail.ts';
import { hashToken } from '../../../core/people/token.ts';
import * as flow from '../../../flow/workspace/accept-invitation.ts';
import { invite, revokeInvitation } from '../../../flow/workspace/invite.ts';
import * as store from '../../../store/people/invitations.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import { throttleAttempts } from '../../access/sign-in-guard.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { callerAddress } from '../../http/request/caller-address.ts';
import { route } from '../../http/route.ts';
import { membershipWire } from './member-wire.ts';

/** Creates, lists, deletes and accepts invitations. */
export function invitationRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, sessions } = deps;

  route(app, deps, createInvitation, async ({ caller, body, request }) => {
    requireWholeWorkspace(caller);
    const { row, token } = await invite(db, caller, { ...body, mails: deps.sendMail !== null });
    const url = sessions.link(request, `/invitations/${token}`);
    const emailed = await sendInvitation(deps, request, row, url);
    return { status: 201, body: { ...invitationWire(row), url, emailed } };
  });

  route(app, deps, listInvitations, async ({ caller }) => {
    requireWholeWorkspace(caller);
    const rows = await store.listInvitations(db, caller.workspaceId);
    return { status: 200, body: { invitations: rows.map(invitationWire) } };
  });

  route(app, deps, deleteInvitation, async ({ caller, params }) => {
    requireWholeWorkspace(caller);
    const id = fromId('invitation', params.invitationId);
    if (id === null || !(await revokeInvitation(db, caller, id))) {
      throw notFound('invitation');
    }
    return { status: 204, body: null };
  });

  route(app, deps, getInvitation, async ({ params: { token }, request }) => {
    const invitation = await findByToken(request, token, (hash) => flow.openInvitation(db, hash));
    const { email, expiresAt, ...membership } = invitation;
    const body = { email, ...membershipWire(membership), expiresAt: expiresAt.toISOString() };
    return { status: 200, body };
  });

  route(app, deps, acceptInvitation, async ({ body: { token, name, password }, request }) => {
    const signedInAs = await sessions.user(request);
    const member = await findByToken(request, token, (tokenHash) => {
      const input = { tokenHash, name, password, signedInAs };
      return flow.acceptInvitation(db, input, sessions.hashPassword);
    });
    const { userId, email, ...membership } = member;
    const body = { userId: toId('user', userId), email, ...membershipWire(membership) };
    return { status: 200, body };
  });

  /** An unknown token counts as a failed attempt. */
  async function findByToken<Found>(
    request: FastifyRequest,
    token: string,
    find: (tokenHash: Buffer) => Promise<Found | null>,
  ): Promise<Found> {
    const hash = hashToken(token);
    const ip = callerAddress(request) ?? '';
    const attempt = { ip, path: '/invitations', account: hash.toString('base64url') };
    const { found } = await throttleAttempts(db, attempt, async () => {
      const found = await find(hash);
      return { ok: found !== null, found };
    });
    if (found === null) throw flow.invitationNotFound();
    return found;
  }
}

/** Whether the mail server accepted the invitation. The caller has the link in any case. */
async function sendInvitation(
  { sendMail }: ApiDeps,
  request: FastifyRequest,
  { email, role, workspaceName }: store.NamedInvitation,
  url: string,
): Promise<boolean> {
  if (sendMail === null) return false;
  try {
    await sendMail(invitationMail(email, { workspaceName, role, url }));
    return true;
  } catch (err) {
    request.log.warn({ err }, 'invitation mail failed');
    return false;
  }
}

function invitationWire(row: store.InvitationRow): Invitation {
  return {
    invitationId: toId('invitation', row.id),
    email: row.email,
    role: row.role,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.invitedBy === null ? null : toId('user', row.invitedBy),
    expiresAt: row.expiresAt.toISOString(),
  };
}
