import { type Static, Type } from 'typebox';
import { roles } from '../../core/people/member.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { ListLimitProblem, problems } from '../problem.ts';
import { body, id, name, nullable, oneOf, time } from '../shared.ts';

const tag = 'Members';
const role = oneOf(
  roles,
  'A viewer reads; an editor also edits, executes and issues keys; an owner also manages members, plan and providers.',
);

const person = {
  userId: id('user', 'Identifier.'),
  email: Type.String(),
  name: Type.String(),
};

export const Member = Type.Object(
  { ...person, role, joinedAt: time('When they became a member.') },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

const invitationFields = {
  invitationId: id('invitation', 'Identifier.'),
  email: Type.String(),
  role,
  createdAt: time('When it was made.'),
  createdBy: nullable(id('user', 'By whom; `null` where that account is gone.')),
  expiresAt: time('Until when it can be accepted.'),
};

export const Invitation = Type.Object(invitationFields, { title: 'Invitation' });
export type Invitation = Static<typeof Invitation>;

export const IssuedInvitation = Type.Object(
  {
    ...invitationFields,
    url: Type.String({ description: 'The link to hand over. Shown this once.' }),
  },
  { title: 'IssuedInvitation' },
);

const membership = {
  workspaceId: id('workspace', 'The workspace.'),
  name: Type.String({ description: 'Its name.' }),
  role,
};

export const Me = Type.Object(
  {
    user: Type.Object(person, { title: 'User' }),
    workspaceId: id('workspace', 'The workspace that this session acts in.'),
    role,
    workspaces: Type.Array(Type.Object(membership, { title: 'Membership' })),
    generatedPassword: Type.Boolean({
      description: 'Whether their password is still one that was made up for them and printed.',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof Me>;

export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/me',
  summary: 'Read who is signed in',
  tag,
  auth: 'session',
  answers: { 200: Me },
});

export const listMembers = endpoint({
  id: 'listMembers',
  method: 'GET',
  path: '/api/v1/members',
  summary: 'List the members of the workspace',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Type.Object({ members: Type.Array(Member) }, { title: 'MemberList' }) },
});

export const updateMember = endpoint({
  id: 'updateMember',
  method: 'PATCH',
  path: '/api/v1/members/{userId}',
  summary: "Change a member's role",
  description:
    '409 where it would leave the workspace without an owner: make another member one first.',
  tag,
  auth: 'owner',
  body: body('MemberPatch', { role }),
  answers: { 200: Member, ...problems(404, 409) },
});

export const removeMember = endpoint({
  id: 'removeMember',
  method: 'DELETE',
  path: '/api/v1/members/{userId}',
  summary: 'Remove a member',
  description:
    'An owner removes anyone, and whoever is signed in themselves. Revokes the keys that they issued. Secrets of webhooks that they saw still hold: rotate those. 409 where it would leave the workspace without an owner: make another member one first.',
  tag,
  auth: 'owner',
  session: 'read',
  answers: { 204: null, ...problems(404, 409) },
});

export const createInvitation = endpoint({
  id: 'createInvitation',
  method: 'POST',
  path: '/api/v1/invitations',
  summary: 'Invite someone',
  description: 'Answers a link to hand over. 409 where that address is a member already.',
  tag,
  auth: 'owner',
  body: body('InvitationInput', {
    email: Type.String({ maxLength: limits.emailMax, pattern: patterns.email.source }),
    role,
  }),
  answers: { 201: IssuedInvitation, ...problems(409) },
});

export const listInvitations = endpoint({
  id: 'listInvitations',
  method: 'GET',
  path: '/api/v1/invitations',
  summary: 'List open invitations',
  tag,
  auth: 'owner',
  answers: {
    200: Type.Object({ invitations: Type.Array(Invitation) }, { title: 'InvitationList' }),
  },
});

export const deleteInvitation = endpoint({
  id: 'deleteInvitation',
  method: 'DELETE',
  path: '/api/v1/invitations/{invitationId}',
  summary: 'Withdraw an invitation',
  tag,
  auth: 'owner',
  answers: { 204: null, ...problems(404) },
});

/** Whose accounts can stand in for a password, as the session's `POST /api/auth/sign-in/social` names them. */
export const identityProviders = ['github', 'google', 'oidc'] as const;

export const listIdentityProviders = endpoint({
  id: 'listIdentityProviders',
  method: 'GET',
  path: '/api/v1/identity-providers',
  summary: 'List whose accounts people can sign in with',
  description:
    'Beside address and password, which always work. `POST /api/auth/sign-in/social` begins it.',
  tag,
  auth: 'none',
  answers: {
    200: Type.Object(
      { identityProviders: Type.Array(oneOf(identityProviders)) },
      { title: 'IdentityProviderList' },
    ),
  },
});

export const getInvitation = endpoint({
  id: 'getInvitation',
  method: 'GET',
  path: '/api/v1/invitations/by-token/{token}',
  summary: 'Read the invitation of a link',
  description:
    'What accepting it would make. 404 where the link is unknown, used, withdrawn or expired; 429 after too many of those.',
  tag,
  auth: 'none',
  answers: {
    200: Type.Object(
      {
        email: Type.String({ description: 'Whom it is for.' }),
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
    'Signed in with the invited address, or with name and password where it has no account yet; the account is made with it. 404 where the link is unknown, used or expired; 409 where the address has an account that is not signed in, or is a member already; 429 after too many of those.',
  tag,
  auth: 'none',
  body: body('InvitationAcceptance', {
    token: Type.String({ minLength: 1, maxLength: limits.tokenMax }),
    name: Type.Optional(name('For people.')),
    password: Type.Optional(
      Type.String({
        minLength: limits.passwordMin,
        maxLength: limits.passwordMax,
        writeOnly: true,
      }),
    ),
  }),
  answers: {
    200: Type.Object(
      { userId: id('user', 'The account.'), email: Type.String(), ...membership },
      { title: 'AcceptedInvitation' },
    ),
    ...problems(404, 409),
    429: ListLimitProblem,
  },
});
