import { sql } from 'kysely';
import { addMember } from '../../harness/people.ts';
import { signIn } from '../../harness/sessions.ts';
import { toId, uuid7 } from '../../src/core/id.ts';
import { generateToken, hashToken } from '../../src/core/people/token.ts';
import { findSessionCaller } from '../../src/store/admission/callers.ts';
import type { Caller } from './callers.ts';
import type { Call, Prepare } from './calls.ts';
import type { World } from './world.ts';

/** Keys, plan, providers, prices, members, and what the process says of itself. */

function at(path: string, body?: object): Prepare {
  return async () => ({ path, ...(body && { body }) });
}

function ofKey(below: string): Prepare {
  return async (world, note) => {
    const agentIds = note === '' ? undefined : [(await world.agent(note)).agentId];
    const options = { permissions: ['manage'] as const, ...(agentIds && { agentIds }) };
    const { apiKeyId } = await world.ground.key(options);
    return { path: `/api/v1/keys/${apiKeyId}${below}`, agents: [apiKeyId] };
  };
}

const provider = { kind: 'openai', apiKey: 'sk-nothing' };
const price = { inputPerMillion: '1', outputPerMillion: '2' };

export const workspaceCalls: Readonly<Record<string, Prepare>> = {
  async 'POST /api/v1/keys'(world, note) {
    const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
    const agentId = note === '' ? null : (await world.agent(note)).agentId;
    const agentIds = agentId === null ? null : [agentId];
    const body = { name: 'New', agentIds, permissions: ['manage'], rateLimits: unlimited };
    return { path: '/api/v1/keys', body, agents: agentIds ?? [] };
  },
  async 'GET /api/v1/keys'(world) {
    const [open, hidden] = [await world.agent(''), await world.privateAgent()];
    const one = await world.ground.key({ agentIds: [open.agentId] });
    const other = await world.ground.key({ agentIds: [hidden.agentId] });
    const path = '/api/v1/keys?limit=100';
    return { path, agents: [one.apiKeyId], privateAgents: [other.apiKeyId] };
  },
  'POST /api/v1/keys/{apiKeyId}/revoke': ofKey('/revoke'),
  'POST /api/v1/keys/{apiKeyId}/rotate': ofKey('/rotate'),

  'GET /api/v1/usage': at('/api/v1/usage'),
  'PUT /api/v1/plan': async () => ({
    path: '/api/v1/plan',
    body: { name: unique(), actionsPerMonth: null },
  }),

  'PUT /api/v1/providers/{name}': async () => ({
    path: `/api/v1/providers/${unique()}`,
    body: provider,
  }),
  async 'GET /api/v1/providers'(world) {
    return { path: '/api/v1/providers', workspace: [await addProvider(world)] };
  },
  'GET /api/v1/providers/{name}': ofProvider,
  'DELETE /api/v1/providers/{name}': ofProvider,
  // It has no credential, so nothing is called.
  async 'POST /api/v1/providers/{name}/test'(world) {
    const { path, workspace } = await ofProvider(world);
    return { path: `${path}/test`, workspace };
  },

  async 'GET /api/v1/prices'(world) {
    return { path: '/api/v1/prices', workspace: [await addPrice(world)] };
  },
  'PUT /api/v1/prices': async () => ({
    path: '/api/v1/prices',
    body: { model: `own/${unique()}`, ...price },
  }),
  async 'DELETE /api/v1/prices'(world) {
    const model = await addPrice(world);
    return { path: `/api/v1/prices?model=${encodeURIComponent(model)}`, workspace: [model] };
  },

  'GET /api/v1/retention': at('/api/v1/retention'),
  'PUT /api/v1/retention': at('/api/v1/retention', { recordsDays: 30, bodiesDays: null }),
  'POST /api/v1/erasures': at('/api/v1/erasures', { variable: 'customer', value: 'c1' }),
  async 'GET /api/v1/erasures'(world) {
    return { path: '/api/v1/erasures?limit=100', workspace: [await addErasure(world)] };
  },
  async 'GET /api/v1/erasures/{erasureId}'(world) {
    const erasureId = await addErasure(world);
    return { path: `/api/v1/erasures/${erasureId}`, workspace: [erasureId] };
  },
  async 'GET /api/v1/audit'({ ground }) {
    const subject = unique();
    await sql`
      insert into audit (id, workspace_id, action, subject)
      values (${uuid7(Date.now())}, ${ground.workspaceId}, 'key.revoke', ${subject})`.execute(
      ground.db,
    );
    return { path: '/api/v1/audit?limit=100', workspace: [subject] };
  },

  'GET /api/v1/me': at('/api/v1/me'),
  async 'GET /api/v1/members'(world) {
    return { path: '/api/v1/members', workspace: [await addColleague(world)] };
  },
  async 'PATCH /api/v1/members/{userId}'(world) {
    const userId = await addColleague(world);
    return { path: `/api/v1/members/${userId}`, body: { role: 'editor' }, workspace: [userId] };
  },
  async 'DELETE /api/v1/members/{userId}'(world, note, caller) {
    if (note.startsWith('oneself') && caller.userId !== null) return leave(world, caller);
    const userId = await addColleague(world);
    return { path: `/api/v1/members/${userId}`, workspace: [userId] };
  },
  'POST /api/v1/invitations': async () => ({
    path: '/api/v1/invitations',
    body: { email: `${unique()}@example.com`, role: 'viewer' },
  }),
  async 'GET /api/v1/invitations'(world) {
    const { invitationId } = await addInvitation(world);
    return { path: '/api/v1/invitations', workspace: [invitationId] };
  },
  async 'DELETE /api/v1/invitations/{invitationId}'(world) {
    const { invitationId } = await addInvitation(world);
    return { path: `/api/v1/invitations/${invitationId}`, workspace: [invitationId] };
  },
  async 'GET /api/v1/invitations/by-token/{token}'(world) {
    const { token } = await addInvitation(world);
    return { path: `/api/v1/invitations/by-token/${token}` };
  },
  async 'POST /api/v1/invitations/accept'(world) {
    const { token } = await addInvitation(world);
    const body = { token, name: 'New', password: 'correct horse battery' };
    return { path: '/api/v1/invitations/accept', body };
  },

  'GET /api/v1/identity-providers': at('/api/v1/identity-providers'),
  'GET /healthz': at('/healthz'),
  'GET /readyz': at('/readyz'),
  async 'GET /metrics'(_world, note) {
    return {
      path: '/metrics',
      ...(note !== '' && { headers: { 'x-forwarded-for': '192.0.2.1' } }),
    };
  },
  'GET /openapi.json': at('/openapi.json'),
  'GET /docs': at('/docs'),
};

function unique(): string {
  return `a${uuid7(Date.now())}`;
}

async function ofProvider(world: World): Promise<Call> {
  const name = await addProvider(world);
  return { path: `/api/v1/providers/${name}`, workspace: [name] };
}

async function addProvider({ ground }: World): Promise<string> {
  const name = unique();
  await sql`
    insert into providers (id, workspace_id, name, kind)
    values (${uuid7(Date.now())}, ${ground.workspaceId}, ${name}, 'openai')`.execute(ground.db);
  return name;
}

async function addPrice({ ground }: World): Promise<string> {
  const model = `own/${unique()}`;
  await sql`
    insert into prices (workspace_id, model, input_per_million, output_per_million)
    values (${ground.workspaceId}, ${model}, 1, 2)`.execute(ground.db);
  return model;
}

/** A viewer; the wire id of them. */
async function addColleague({ ground }: World): Promise<string> {
  return toId('user', await addMember(ground.db, ground.workspaceId, 'viewer'));
}

/** By somebody like the caller, who is needed for the rows to come. */
async function leave(world: World, { userId }: Caller): Promise<Call> {
  const { db } = world.ground;
  const like = userId === null ? null : await findSessionCaller(db, userId, null);
  if (!like?.role) throw new Error('whoever leaves must be a member');
  const leaving = await addMember(db, like.workspaceId, like.role);
  const { cookie } = await signIn({ db, url: world.url }, leaving);
  return { path: `/api/v1/members/${toId('user', leaving)}`, headers: { cookie } };
}

async function addErasure({ ground }: World): Promise<string> {
  const id = uuid7(Date.now());
  await sql`
    insert into erasures (id, workspace_id, variable, value, down_to)
    values (${id}, ${ground.workspaceId}, 'customer', 'c1', ${id})`.execute(ground.db);
  return toId('erasure', id);
}

async function addInvitation({ ground }: World) {
  const id = uuid7(Date.now());
  const token = generateToken();
  await sql`
    insert into invitations (id, workspace_id, email, role, token_hash, invited_by, expires_at)
    values (${id}, ${ground.workspaceId}, ${`${id}@example.com`}, 'viewer', ${hashToken(token)},
      ${ground.ownerId}, clock_timestamp() + interval '1 day')`.execute(ground.db);
  return { invitationId: toId('invitation', id), token };
}
