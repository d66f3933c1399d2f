import { type Static, Type } from 'typebox';
import { mailsPerDayMax } from '../../../core/people/mail.ts';
import { openInvitationsMax, roles } from '../../../core/people/member.ts';
import { notices } from '../../../core/people/notice.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import {
  body,
  creation,
  id,
  name,
  nullable,
  oneOf,
  ownId,
  time,
} from '../../../http/contract/shared.ts';

const tag = 'Members';
const publicRead = { method: 'GET', tag, auth: 'none' } as const;
const managed = { tag, auth: 'own' } as const;
const role = oneOf(
  roles,
  'A viewer reads; an editor also edits, executes and issues keys; an owner also manages members, the plan and providers.',
);

const person = {
  userId: id('user', 'Identifier.'),
  email: Type.String(),
  name: Type.String(),
};

export const Member = Type.Object(
  { ...person, role, joinedAt: time('Time of joining.') },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

const invitationFields = {
  invitationId: ownId('invitation'),
  email: Type.String(),
  role,
  ...creation,
  expiresAt: time('Expiry time.'),
};

export const Invitation = Type.Object(invitationFields, { title: 'Invitation' });
export type Invitation = Static<typeof Invitation>;

export const IssuedInvitation = Type.Object(
  {
    ...invitationFields,
    url: Type.String({ description: 'Link to send to the invited person. Shown once.' }),
    emailed: Type.Boolean({ description: 'Whether it was sent by e-mail.' }),
  },
  { title: 'IssuedInvitation' },
);

const membership = {
  workspaceId: id('workspace', 'The workspace.'),
  name: Type.String({ description: 'Name of the workspace.' }),
  role,
};

const notice = oneOf(
  notices,
  '`firstSteps`: the checklist of the overview. `generatedPassword`: the warning about the generated password.',
);

export const Dismissal = Type.Object(
  { notice, until: nullable(time('Shown again from then on.'), '`null`: for good.') },
  { title: 'Dismissal' },
);
export type Dismissal = Static<typeof Dismissal>;

export const Me = Type.Object(
  {
    user: Type.Object(person, { title: 'User' }),
    workspaceId: id('workspace', 'The workspace of this session.'),
    role,
    workspaces: Type.Array(Type.Object(membership, { title: 'Membership' })),
    generatedPassword: Type.Boolean({
      description: 'Whether the user still has the generated password.',
    }),
    dismissed: Type.Array(Dismissal, {
      description: 'Notices of the dashboard that the user has dismissed in this workspace.',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof Me>;

export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/me',
  summary: 'Get the signed-in user',
  tag,
  auth: 'session',
  responses: { 200: Me },
});

export const dismissNotice = endpoint({
  id: 'dismissNotice',
  method: 'PUT',
  path: '/api/v1/me/dismissals',
  summary: 'Dismiss a notice of the dashboard',
  description:
    'For the signed-in user in this workspace: for a number of days, or for good. `generatedPassword` can only be postponed.',
  tag,
  auth: 'session',
  body: body('DismissalInput', {
    notice,
    days: nullable(
      Type.Integer({ minimum: 0, maximum: limits.dismissalDaysMax }),
      'Days until it is shown again; 0 shows it at once. `null`: for good.',
    ),
  }),
  responses: { 200: Dismissal },
});

export const deleteMe = endpoint({
  id: 'deleteMe',
  method: 'DELETE',
  path: '/api/v1/me',
  summary: 'Delete the account of the signed-in user',
  description:
    'The user leaves every workspace: the keys that they issued are revoked. Name, address, password, sessions and linked accounts are deleted; records and audit entries keep the identifier. Works without a workspace. Returns 409 to the last owner of a workspace: make another member an owner first.',
  tag,
  auth: 'session',
  responses: { 204: null, ...problems(409) },
});

export const listMembers = endpoint({
  id: 'listMembers',
  method: 'GET',
  path: '/api/v1/members',
  summary: 'List the members of the workspace',
  tag,
  auth: 'manage',
  orPermission: 'own',
  session: 'read',
  responses: { 200: Type.Object({ members: Type.Array(Member) }, { title: 'MemberList' }) },
});

export const updateMember = endpoint({
  ...managed,
  id: 'updateMember',
  method: 'PATCH',
  path: '/api/v1/members/{userId}',
  summary: "Change a member's role",
  description:
    'Returns 409 if the workspace would have no owner: make another member an owner first.',
  body: body('MemberPatch', { role }),
  responses: { 200: Member, ...problems(404, 409) },
});

export const removeMember = endpoint({
  id: 'removeMember',
  method: 'DELETE',
  path: '/api/v1/members/{userId}',
  summary: 'Remove a member',
  description:
    'An owner may remove anyone; any member may leave. Revokes the keys that the member issued. Webhook secrets that the member saw stay valid: rotate them. Returns 409 if the workspace would have no owner: make another member an owner first.',
  tag,
  auth: 'own',
  session: 'read',
  responses: { 204: null, ...problems(404, 409) },
});

export const createInvitation = endpoint({
  ...managed,
  id: 'createInvitation',
  method: 'POST',
  path: '/api/v1/invitations',
  summary: 'Invite someone',
  description: `Returns an invitation link, and sends it by e-mail if the server is configured to. It lasts 7 days, and replaces an open one for the address. It ends with the rights of who issued it: a key that ends, or an owner who is removed or demoted. Returns 409 if the address already belongs to a member, or the workspace has ${openInvitationsMax} open invitations; 429 with retryAfter if it has sent ${mailsPerDayMax} e-mails today (UTC).`,
  body: body('InvitationInput', {
    email: Type.String({
      maxLength: limits.emailMax,
      pattern: patterns.email.source,
      examples: ['sam@example.com'],
    }),
    role,
  }),
  responses: { 201: IssuedInvitation, ...problems(409) },
});

export const listInvitations = endpoint({
  id: 'listInvitations',
  method: 'GET',
  path: '/api/v1/invitations',
  summary: 'List open invitations',
  tag,
  auth: 'own',
  responses: {
    200: Type.Object({ invitations: Type.Array(Invitation) }, { title: 'InvitationList' }),
  },
});

export const deleteInvitation = endpoint({
  ...managed,
  id: 'deleteInvitation',
  method: 'DELETE',
  path: '/api/v1/invitations/{invitationId}',
  summary: 'Revoke an invitation',
  responses: { 204: null, ...problems(404) },
});

/** External identity providers, as named by the session's `POST /api/auth/sign-in/social`. */
export const identityProviders = ['github', 'google', 'oidc'] as const;

export const listIdentityProviders = endpoint({
  ...publicRead,
  id: 'listIdentityProviders',
  path: '/api/v1/identity-providers',
  summary: 'List the identity providers for sign-in',
  description:
    'E-mail and password always work as well. `POST /api/auth/sign-in/social` starts a sign-in.',
  responses: {
    200: Type.Object(
      {
        identityProviders: Type.Array(oneOf(identityProviders)),
        passwordReset: Type.Boolean({
          description: 'Whether `POST /api/auth/request-password-reset` sends a link by e-mail.',
        }),
      },
      { title: 'IdentityProviderList' },
    ),
  },
});

export const getInvitation = endpoint({
  ...publicRead,
  id: 'getInvitation',
  path: '/api/v1/invitations/by-token/{token}',
  summary: 'Get the invitation of a link',
  description:
    'Shows what accepting the invitation grants. Returns 404 if the link is unknown, used, revoked or expired, and 429 after too many of these.',
  responses: {
    200: Type.Object(
      {
        email: Type.String({ description: 'Address of the invited person.' }),
        ...membership,
        expiresAt: invitationFields.expiresAt,
      },
      { title: 'OpenedInvitation' },
    ),
    ...problems(404),
    429: ListLimitProblem,
  },
});

export const acceptInvitation = endpoint({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/api/v1/invitations/accept',
  summary: 'Accept an invitation',
  description:
    'Accept with a session of the invited address. If the address has no account yet, send name and password: the account is created. Returns 404 if the link is unknown, used or expired; 409 if the address has an account that is not signed in, or is already a member; 429 after too many unknown links.',
  tag,
  auth: 'none',
  body: body('InvitationAcceptance', {
    token: Type.String({ minLength: 1, maxLength: limits.tokenMax }),
    name: Type.Optional(name('Display name.')),
    password: Type.Optional(
      Type.String({
        minLength: limits.passwordMin,
        maxLength: limits.passwordMax,
        writeOnly: true,
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      { userId: id('user', 'The user.'), email: Type.String(), ...membership },
      { title: 'AcceptedInvitation' },
    ),
    ...problems(404, 409),
    429: ListLimitProblem,
  },
});
