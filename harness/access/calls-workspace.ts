import { toId, uuid7 } from '../../src/core/id.ts';
import { generateToken, hashToken } from '../../src/core/people/token.ts';
import { sql } from '../../src/db/sql.ts';
import { findSessionCaller } from '../../src/features/people/statements/callers.ts';
import { addMember } from '../people.ts';
import type { Caller } from './callers.ts';
import type { Call, Prepare } from './calls.ts';
import type { AccessFixture } from './fixture.ts';

/** Keys, plan, providers, prices, members and system routes. */

function at(path: string, body?: object): Prepare {
  return async () => ({ path, ...(body && { body }) });
}

function ofKey(below: string): Prepare {
  return async (fixture, note) => {
    const agentIds = note === '' ? undefined : [(await fixture.agent(note)).agentId];
    const options = { permissions: ['manage'] as const, ...(agentIds && { agentIds }) };
    const { apiKeyId } = await fixture.environment.key(options);
    return { path: `/api/v1/keys/${apiKeyId}${below}`, agents: [apiKeyId] };
  };
}

function ofEndpoint(below: string, body?: object): Prepare {
  return async (fixture) => {
    const { path, endpointId } = await addEndpoint(fixture);
    return { path: `${path}${below}`, ...(body && { body }), workspace: [endpointId] };
  };
}

/** An endpoint with one delivery, which is never sent. Calls prepare theirs at the same time. */
async function addEndpoint({ environment: { db, workspaceId } }: AccessFixture) {
  const [id, event] = [uuid7(Date.now()), uuid7(Date.now())];
  const [endpointId, eventId] = [toId('endpoint', id), toId('event', event)];
  await sql`
    insert into endpoints (id, workspace_id, url, event_types, payload, format, sealed_secret)
    values (${id}, ${workspaceId}, 'https://shop.example/', '{ping}', 'thin', 'standard', '')`.execute(
    db,
  );
  await sql`
    with counted as (
      insert into event_counters as c values (${workspaceId}, 1)
      on conflict (workspace_id) do update set last = c.last + 1 returning last)
    insert into events (id, workspace_id, sequence, type, at, subject, data)
    select ${event}, ${workspaceId}, last, 'ping', now(), ${id}, ${JSON.stringify({ endpointId })} from counted`.execute(
    db,
  );
  await sql`
    insert into deliveries (endpoint_id, event_id, type, state, due_at)
    values (${id}, ${event}, 'ping', 'failed', now())`.execute(db);
  return { path: `/api/v1/endpoints/${endpointId}`, endpointId, eventId };
}

function ofToolServer(below: string, body?: object): Prepare {
  return async (fixture) => {
    const { path, toolServerId } = await addToolServer(fixture);
    return { path: `${path}${below}`, ...(body && { body }), workspace: [toolServerId] };
  };
}

/** A server with one tool, whose secret cannot be opened: nothing is sent. */
async function addToolServer({ environment: { db, workspaceId } }: AccessFixture) {
  const [id, name] = [uuid7(Date.now()), unique()];
  await sql`
    insert into tool_servers (id, workspace_id, name, kind, url, sealed_secret, timeout_ms, max_concurrency)
    values (${id}, ${workspaceId}, ${name}, 'http', 'http://10.0.0.1/', '', 1000, 1)`.execute(db);
  await sql`
    insert into tool_catalog (server_id, name, position, definition, digest)
    values (${id}, 'refund', 1, '{"name":"refund","description":"","inputSchema":{"type":"object"}}',
      ${'0'.repeat(64)})`.execute(db);
  const toolServerId = toId('toolServer', id);
  return { path: `/api/v1/tool-servers/${toolServerId}`, toolServerId, name };
}

const alertSettings = {
  ...{ metric: 'count', threshold: 10, clearThreshold: 10 },
  ...{ windowMinutes: 5, minCount: 0, noData: 'keep' },
};

function ofAlert(below: string, body?: object): Prepare {
  return async (fixture) => {
    const alertId = await addAlert(fixture);
    const path = `/api/v1/alerts/${alertId}${below}`;
    return { path, ...(body && { body }), workspace: [alertId] };
  };
}

async function addAlert({ environment: { db, workspaceId } }: AccessFixture): Promise<string> {
  const id = uuid7(Date.now());
  await sql`
    insert into alerts (id, workspace_id, name, metric, threshold, clear_threshold, window_minutes, min_count, no_data)
    values (${id}, ${workspaceId}, 'Alert', 'count', 10, 10, 5, 0, 'keep')`.execute(db);
  return toId('alert', id);
}

function ofBudget(below: string, body?: object): Prepare {
  return async (fixture) => {
    const budgetId = await addBudget(fixture);
    const path = `/api/v1/budgets/${budgetId}${below}`;
    return { path, ...(body && { body }), workspace: [budgetId] };
  };
}

async function addBudget({ environment: { db, workspaceId } }: AccessFixture): Promise<string> {
  const id = uuid7(Date.now());
  await sql`
    insert into budgets (id, workspace_id, name, per, period, limit_usd, enabled)
    values (${id}, ${workspaceId}, ${id}, 'none', 'month', 1, false)`.execute(db);
  return toId('budget', id);
}

const provider = { kind: 'openai', apiKey: 'sk-nothing' };
const price = { inputPerMillion: '1', outputPerMillion: '2' };

export const workspaceCalls: Readonly<Record<string, Prepare>> = {
  async 'POST /api/v1/keys'(fixture, note) {
    const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
    const agentId = note === '' ? null : (await fixture.agent(note)).agentId;
    const agentIds = agentId === null ? null : [agentId];
    const body = { name: 'New', agentIds, permissions: ['manage'], rateLimits: unlimited };
    return { path: '/api/v1/keys', body, agents: agentIds ?? [] };
  },
  async 'GET /api/v1/keys'(fixture) {
    const [open, hidden] = [await fixture.agent(''), await fixture.privateAgent()];
    const one = await fixture.environment.key({ agentIds: [open.agentId] });
    const other = await fixture.environment.key({ agentIds: [hidden.agentId] });
    const path = '/api/v1/keys?limit=100';
    return { path, agents: [one.apiKeyId], privateAgents: [other.apiKeyId] };
  },
  'PATCH /api/v1/keys/{apiKeyId}': async (...given) => {
    const call = await ofKey('')(...given);
    return { ...call, body: { name: 'Renamed' } };
  },
  'GET /api/v1/keys/{apiKeyId}/refusals': ofKey('/refusals'),
  'POST /api/v1/keys/{apiKeyId}/revoke': ofKey('/revoke'),
  'POST /api/v1/keys/{apiKeyId}/rotate': ofKey('/rotate'),

  'GET /api/v1/usage': at('/api/v1/usage'),
  'PATCH /api/v1/workspace': at('/api/v1/workspace', { name: 'Renamed' }),
  'PUT /api/v1/plan': async () => ({
    path: '/api/v1/plan',
    body: { name: unique(), actionsPerMonth: null },
  }),

  'PUT /api/v1/providers/{name}': async () => ({
    path: `/api/v1/providers/${unique()}`,
    body: provider,
  }),
  async 'GET /api/v1/providers'(fixture) {
    return { path: '/api/v1/providers', workspace: [await addProvider(fixture)] };
  },
  'GET /api/v1/providers/{name}': ofProvider,
  'DELETE /api/v1/providers/{name}': ofProvider,
  async 'GET /api/v1/providers/{name}/models'(fixture) {
    const { path, workspace } = await ofProvider(fixture);
    return { path: `${path}/models`, workspace };
  },
  // The provider has no credential, so the test calls nothing.
  async 'POST /api/v1/providers/{name}/test'(fixture) {
    const { path, workspace } = await ofProvider(fixture);
    return { path: `${path}/test`, workspace };
  },

  async 'GET /api/v1/prices'(fixture) {
    return { path: '/api/v1/prices', workspace: [await addPrice(fixture)] };
  },
  'PUT /api/v1/prices': async () => ({
    path: '/api/v1/prices',
    body: { model: `own/${unique()}`, ...price },
  }),
  async 'DELETE /api/v1/prices'(fixture) {
    const model = await addPrice(fixture);
    return { path: `/api/v1/prices?model=${encodeURIComponent(model)}`, workspace: [model] };
  },

  'GET /api/v1/retention': at('/api/v1/retention'),
  'PUT /api/v1/retention': at('/api/v1/retention', { recordsDays: 30, bodiesDays: null }),
  'POST /api/v1/erasures': at('/api/v1/erasures', { variable: 'customer', value: 'c1' }),
  'POST /api/v1/erasures/preview': at('/api/v1/erasures/preview', { user: 'u1' }),
  async 'GET /api/v1/erasures'(fixture) {
    return { path: '/api/v1/erasures?limit=100', workspace: [await addErasure(fixture)] };
  },
  async 'GET /api/v1/erasures/{erasureId}'(fixture) {
    const erasureId = await addErasure(fixture);
    return { path: `/api/v1/erasures/${erasureId}`, workspace: [erasureId] };
  },
  async 'GET /api/v1/audit'({ environment }) {
    const subject = unique();
    await sql`
      insert into audit (id, workspace_id, action, subject)
      values (${uuid7(Date.now())}, ${environment.workspaceId}, 'key.revoke', ${subject})`.execute(
      environment.db,
    );
    return { path: '/api/v1/audit?limit=100', workspace: [subject] };
  },

  async 'POST /api/v1/tool-servers'() {
    const body = { name: unique(), kind: 'http', url: 'https://crm.example.com/' };
    return { path: '/api/v1/tool-servers', body };
  },
  async 'GET /api/v1/tool-servers'(fixture) {
    const { toolServerId } = await addToolServer(fixture);
    return { path: '/api/v1/tool-servers', workspace: [toolServerId] };
  },
  async 'GET /api/v1/tools'(fixture) {
    const { name } = await addToolServer(fixture);
    return { path: '/api/v1/tools', workspace: [name] };
  },
  'GET /api/v1/tool-servers/{toolServerId}': ofToolServer(''),
  'PATCH /api/v1/tool-servers/{toolServerId}': ofToolServer('', { enabled: false }),
  'DELETE /api/v1/tool-servers/{toolServerId}': ofToolServer(''),
  'POST /api/v1/tool-servers/{toolServerId}/rotate': ofToolServer('/rotate', {}),
  'POST /api/v1/tool-servers/{toolServerId}/check': ofToolServer('/check'),
  'POST /api/v1/tool-servers/{toolServerId}/tools/{toolName}/try': ofToolServer(
    '/tools/refund/try',
    {},
  ),
  async 'POST /api/v1/endpoints'({ environment }) {
    // A workspace has only a few.
    await sql`delete from endpoints`.execute(environment.db);
    return { path: '/api/v1/endpoints', body: { url: null, eventTypes: ['key.revoked'] } };
  },
  async 'GET /api/v1/endpoints'(fixture) {
    return { path: '/api/v1/endpoints', workspace: [(await addEndpoint(fixture)).endpointId] };
  },
  'GET /api/v1/endpoints/{endpointId}': ofEndpoint(''),
  'PATCH /api/v1/endpoints/{endpointId}': ofEndpoint('', { description: 'Shop' }),
  'DELETE /api/v1/endpoints/{endpointId}': ofEndpoint(''),
  'POST /api/v1/endpoints/{endpointId}/rotate': ofEndpoint('/rotate', {}),
  'POST /api/v1/endpoints/{endpointId}/test': ofEndpoint('/test'),
  'GET /api/v1/endpoints/{endpointId}/deliveries': ofEndpoint('/deliveries'),
  async 'POST /api/v1/endpoints/{endpointId}/deliveries/{eventId}/resend'(fixture) {
    const { path, eventId } = await addEndpoint(fixture);
    return { path: `${path}/deliveries/${eventId}/resend`, workspace: [eventId] };
  },
  'POST /api/v1/endpoints/{endpointId}/replay': ofEndpoint('/replay', {
    startDate: new Date(Date.now() - 86_400_000).toISOString(),
    endDate: new Date(Date.now() + 86_400_000).toISOString(),
  }),
  async 'GET /api/v1/events'(fixture) {
    const { endpointId, eventId } = await addEndpoint(fixture);
    return { path: `/api/v1/events?limit=100`, workspace: [endpointId, eventId] };
  },

  async 'POST /api/v1/alerts'({ environment }) {
    // A workspace has only a few.
    await sql`delete from alerts`.execute(environment.db);
    return { path: '/api/v1/alerts', body: { name: 'Alert', ...alertSettings } };
  },
  async 'GET /api/v1/alerts'(fixture) {
    return { path: '/api/v1/alerts', workspace: [await addAlert(fixture)] };
  },
  async 'POST /api/v1/alerts/preview'() {
    return { path: '/api/v1/alerts/preview', body: { ...alertSettings, days: 1 } };
  },
  'GET /api/v1/alerts/{alertId}': ofAlert(''),
  'PATCH /api/v1/alerts/{alertId}': ofAlert('', { name: 'Renamed' }),
  'DELETE /api/v1/alerts/{alertId}': ofAlert(''),
  'POST /api/v1/alerts/{alertId}/preview': ofAlert('/preview', { days: 1 }),
  async 'POST /api/v1/budgets'({ environment }) {
    // A workspace has only a few.
    await sql`delete from budgets`.execute(environment.db);
    const body = { name: unique(), per: 'user', period: 'day', limitUSD: 5, enabled: false };
    return { path: '/api/v1/budgets', body };
  },
  async 'GET /api/v1/budgets'(fixture) {
    return { path: '/api/v1/budgets', workspace: [await addBudget(fixture)] };
  },
  'GET /api/v1/budgets/{budgetId}': ofBudget(''),
  'PATCH /api/v1/budgets/{budgetId}': ofBudget('', { maxTokens: 5 }),
  'DELETE /api/v1/budgets/{budgetId}': ofBudget(''),
  'GET /api/v1/budgets/{budgetId}/windows': ofBudget('/windows'),
  'GET /api/v1/me/views': at('/api/v1/me/views'),
  'PUT /api/v1/me/views': at('/api/v1/me/views', {
    views: [{ name: 'Failures', search: 'status=failed' }],
  }),

  'GET /api/v1/me': at('/api/v1/me'),
  'PUT /api/v1/me/dismissals': at('/api/v1/me/dismissals', { notice: 'firstSteps', days: null }),
  async 'DELETE /api/v1/me'(fixture, _note, caller) {
    return caller.userId === null ? { path: '/api/v1/me' } : deleteAccount(fixture, caller);
  },
  async 'GET /api/v1/members'(fixture) {
    return { path: '/api/v1/members', workspace: [await addColleague(fixture)] };
  },
  async 'PATCH /api/v1/members/{userId}'(fixture) {
    const userId = await addColleague(fixture);
    return { path: `/api/v1/members/${userId}`, body: { role: 'editor' }, workspace: [userId] };
  },
  async 'DELETE /api/v1/members/{userId}'(fixture, note, caller) {
    if (note.startsWith('oneself') && caller.userId !== null) {
      return leaveWorkspace(fixture, caller);
    }
    const userId = await addColleague(fixture);
    return { path: `/api/v1/members/${userId}`, workspace: [userId] };
  },
  'POST /api/v1/invitations': async () => ({
    path: '/api/v1/invitations',
    body: { email: `${unique()}@example.com`, role: 'viewer' },
  }),
  async 'GET /api/v1/invitations'(fixture) {
    const { invitationId } = await addInvitation(fixture);
    return { path: '/api/v1/invitations', workspace: [invitationId] };
  },
  async 'DELETE /api/v1/invitations/{invitationId}'(fixture) {
    const { invitationId } = await addInvitation(fixture);
    return { path: `/api/v1/invitations/${invitationId}`, workspace: [invitationId] };
  },
  async 'GET /api/v1/invitations/by-token/{token}'(fixture) {
    const { token } = await addInvitation(fixture);
    return { path: `/api/v1/invitations/by-token/${token}` };
  },
  async 'POST /api/v1/invitations/accept'(fixture) {
    const { token } = await addInvitation(fixture);
    const body = { token, name: 'New', password: 'correct horse battery' };
    return { path: '/api/v1/invitations/accept', body };
  },

  'GET /api/v1/identity-providers': at('/api/v1/identity-providers'),
  'GET /healthz': at('/healthz'),
  'GET /readyz': at('/readyz'),
  async 'GET /metrics'(_fixture, note) {
    return {
      path: '/metrics',
      ...(note !== '' && { headers: { 'x-forwarded-for': '192.0.2.1' } }),
    };
  },
  'GET /openapi.json': at('/openapi.json'),
  'GET /docs': at('/docs'),
};

export function unique(): string {
  return `a${uuid7(Date.now())}`;
}

async function ofProvider(fixture: AccessFixture): Promise<Call> {
  const name = await addProvider(fixture);
  return { path: `/api/v1/providers/${name}`, workspace: [name] };
}

async function addProvider({ environment }: AccessFixture): Promise<string> {
  const name = unique();
  await sql`
    insert into providers (id, workspace_id, name, kind)
    values (${uuid7(Date.now())}, ${environment.workspaceId}, ${name}, 'openai')`.execute(
    environment.db,
  );
  return name;
}

async function addPrice({ environment }: AccessFixture): Promise<string> {
  const model = `own/${unique()}`;
  await sql`
    insert into prices (workspace_id, model, input_per_million, output_per_million)
    values (${environment.workspaceId}, ${model}, 1, 2)`.execute(environment.db);
  return model;
}

/** Adds a viewer and returns the wire id. */
async function addColleague({ environment }: AccessFixture): Promise<string> {
  return toId('user', await addMember(environment.db, environment.workspaceId, 'viewer'));
}

/** A new member with the caller's role leaves, because later rows need the caller. */
async function leaveWorkspace(fixture: AccessFixture, { userId }: Caller): Promise<Call> {
  const { db } = fixture.environment;
  const member = userId === null ? null : await findSessionCaller(db, userId, null);
  if (!member?.role) throw new Error('only a member can leave');
  const leaving = await addMember(db, member.workspaceId, member.role);
  const cookie = await fixture.environment.signIn(leaving);
  return { path: `/api/v1/members/${toId('user', leaving)}`, headers: { cookie } };
}

/** Of somebody like the caller, who is needed for the rows to come. A removed member has an account, too. */
async function deleteAccount(fixture: AccessFixture, { userId }: Caller): Promise<Call> {
  const { db } = fixture.environment;
  const like = userId === null ? null : await findSessionCaller(db, userId, null);
  const leaving = await addMember(
    db,
    like?.workspaceId ?? fixture.environment.workspaceId,
    'viewer',
  );
  const cookie = await fixture.environment.signIn(leaving);
  if (!like) await sql`delete from members where user_id = ${leaving}`.execute(db);
  return { path: '/api/v1/me', headers: { cookie } };
}

async function addErasure({ environment }: AccessFixture): Promise<string> {
  const id = uuid7(Date.now());
  await sql`
    insert into erasures (id, workspace_id, variable, value, down_to)
    values (${id}, ${environment.workspaceId}, 'customer', 'c1', ${id})`.execute(environment.db);
  return toId('erasure', id);
}

async function addInvitation({ environment }: AccessFixture) {
  const id = uuid7(Date.now());
  const token = generateToken();
  await sql`
    insert into invitations (id, workspace_id, email, role, token_hash, invited_by, expires_at)
    values (${id}, ${environment.workspaceId}, ${`${id}@example.com`}, 'viewer', ${hashToken(token)},
      ${environment.ownerId}, clock_timestamp() + interval '1 day')`.execute(environment.db);
  return { invitationId: toId('invitation', id), token };
}
