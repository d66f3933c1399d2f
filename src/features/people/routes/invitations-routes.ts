import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../../../core/failure.ts';
import { invitationMail } from '../../../core/people/mail.ts';
import { hashToken } from '../../../core/people/token.ts';
import { callerAddress } from '../../../http/request/caller-address.ts';
import { route } from '../../../http/route.ts';
import { requireWholeWorkspace } from '../access/require-permission.ts';
import type { SessionDeps } from '../access/session-deps.ts';
import { throttleAttempts } from '../access/sign-in-guard.ts';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  getInvitation,
  listInvitations,
} from '../contract/members-contract.ts';
import * as store from '../statements/invitations.ts';
import * as flow from '../verbs/accept-invitation.ts';
import { invite, revokeInvitation } from '../verbs/invite.ts';

/** Creates, lists, deletes and accepts invitations. */
export function invitationRoutes(app: FastifyInstance, deps: SessionDeps): void {
  const { db, sessions } = deps;

  route(app, deps, createInvitation, async ({ caller, body, request }) => {
    requireWholeWorkspace(caller);
    const { row, token } = await invite(db, caller, { ...body, mails: deps.sendMail !== null });
    const url = sessions.link(request, `/invitations/${token}`);
    const emailed = await sendInvitation(deps, request, row, url);
    return { result: { ...row, createdBy: row.invitedBy, url, emailed } };
  });

  route(app, deps, listInvitations, async ({ caller }) => {
    requireWholeWorkspace(caller);
    const rows = await store.listInvitations(db, caller.workspaceId);
    const invitations = rows.map((row) => ({ ...row, createdBy: row.invitedBy }));
    return { result: { invitations } };
  });

  route(app, deps, deleteInvitation, async ({ caller, ids }) => {
    requireWholeWorkspace(caller);
    if (await revokeInvitation(db, caller, ids.invitationId)) return { result: null };
    throw notFound('invitation');
  });

  route(app, deps, getInvitation, async ({ params: { token }, request }) => {
    const find = (hash: Buffer) => flow.openInvitation(db, hash);
    return { result: await findByToken(request, token, find) };
  });

  route(app, deps, acceptInvitation, async ({ body: { token, name, password }, request }) => {
    const signedInAs = await sessions.user(request);
    const member = await findByToken(request, token, (tokenHash) => {
      const input = { tokenHash, name, password, signedInAs };
      return flow.acceptInvitation(db, input, sessions.hashPassword);
    });
    return { result: member };
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
  { sendMail }: SessionDeps,
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
