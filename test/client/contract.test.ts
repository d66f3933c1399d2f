import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import type { Cueline } from '../../src/client/index.ts';
import { operations } from '../../src/client/method.ts';
import { endpoints } from '../../src/faces/reference/operations-index.ts';
import type { Endpoint } from '../../src/http/contract/operation.ts';
import { json, type Step, stage } from './server.ts';

/** Every method sends what the contract declares, and every operation has a method. */

/** Operations that no method of `calls` sends. Those of the OpenAI API have clients of their own. */
const withoutMethod: Readonly<Record<string, string>> = {
  listExecutionsUnversioned: 'the same as listExecutions; reached by request',
  streamExecution: 'followed in stream.test.ts',
  streamWorkflowRun: 'a page polls the run; reached by request',
  getHealth: 'for probes of the process',
  getReadiness: 'for probes of the process',
  getMetrics: 'for Prometheus',
  getOpenapi: 'the contract itself',
  getDocs: 'a page',
};

const definition = { steps: [{ name: 'one', agentId: 'a' }] };
const alert = {
  metric: 'failureRate',
  threshold: 0.1,
  clearThreshold: 0.05,
  windowMinutes: 15,
  minCount: 20,
  noData: 'keep',
} as const;
const signed = { 'webhook-id': 'i', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' };

const calls: ((client: Cueline) => unknown)[] = [
  (c) => c.execute('a', { x: 1 }),
  (c) => c.status('a', 'e'),
  (c) => c.wait('a', 'e'),
  (c) => c.estimate('a', { variables: { x: 1 }, count: 2 }),
  (c) => c.cancel('a', 'e'),
  (c) => c.deleteExecution('a', 'e'),
  (c) => c.executionEvents('a', 'e'),
  (c) => c.executionSteps('a', 'e'),
  (c) => c.retention(),
  (c) => c.setRetention({ recordsDays: 30, bodiesDays: null }),
  (c) => c.audit({ action: 'key.revoke', limit: 5 }),
  (c) => c.erasures.create({ variable: 'customer', value: 'c1' }),
  (c) => c.erasures.preview({ user: 'u1' }),
  (c) => c.erasures.list({ limit: 5 }),
  (c) => c.erasures.get('e'),
  (c) => c.list('a', { limit: 1, include: 'processing', 'variables.customer': 'acme' }),
  (c) => c.list(null, { q: 'tide', costUSDMin: '0.01' }),
  (c) => c.list(null, { status: ['failed', 'canceled'], agentId: 'a', executionId: ['e', 'f'] }),
  (c) => c.openExport('a', { format: 'csv', cursor: 'exe_1' }),
  (c) => c.openExport(null, { status: 'failed' }),
  (c) => c.listSessions({ user: 'u' }),
  (c) => c.agents.create({ agentName: 'A', promptId: 'p', promptVersionId: 'v' }),
  (c) => c.agents.list({ status: 'Draft' }),
  (c) => c.agents.get('a'),
  (c) => c.agents.getWithEtag('a'),
  (c) => c.agents.update('a', { agentConfig: { topP: null } }),
  (c) => c.agents.delete('a'),
  (c) => c.agents.move('a', 'deploy'),
  (c) => c.agents.refusals('a'),
  (c) => c.keys.refusals('k'),
  (c) => c.agents.pins('a', { limit: 5 }),
  (c) => c.agents.allPins({ startDate: '2026-11-21' }),
  (c) => c.agents.statistics('a', { level: 'hour', startDate: '2026-11-21' }),
  (c) =>
    c.batches.upload('a', '{"id":"1","variables":{}}\n', {
      ...{ idempotencyKey: 'k', fileName: 'lines.jsonl' },
    }),
  (c) => c.batches.list('a', { limit: 5 }),
  (c) => c.batches.get('a', 'b'),
  (c) => c.batches.openResults('a', 'b', { status: ['failed', 'refused'] }),
  (c) => c.batches.rerun('a', 'b', { idempotencyKey: 'k' }),
  (c) => c.batches.cancel('a', 'b'),
  (c) => c.agents.executeInSession('a', {}, { rerunOf: 'e', playground: true }),
  (c) => c.prompts.create({ name: 'P' }),
  (c) => c.prompts.list({ q: 'p' }),
  (c) => c.prompts.get('p'),
  (c) => c.prompts.getWithEtag('p'),
  (c) => c.prompts.update('p', { description: null }),
  (c) => c.prompts.archive('p'),
  (c) => c.prompts.restore('p'),
  (c) => c.versions.create('p', { user: 'Say {{x}}.' }),
  (c) => c.versions.list('p'),
  (c) => c.versions.get('p', 'v'),
  (c) => c.workflows.create({ name: 'W', definition }),
  (c) => c.workflows.list({ q: 'w' }),
  (c) => c.workflows.get('w'),
  (c) => c.workflows.getWithEtag('w'),
  (c) => c.workflows.update('w', { enabled: false }),
  (c) => c.workflows.delete('w'),
  (c) => c.workflows.validate(definition),
  (c) => c.workflows.addVersion('w', { label: 'l', definition }),
  (c) => c.workflows.versions('w'),
  (c) => c.workflows.getVersion('w', 'v'),
  (c) => c.workflows.pins('w'),
  (c) => c.workflows.execute('w', { ticket: 'x' }),
  (c) => c.workflows.executeInSession('w', {}),
  (c) => c.workflows.runs('w', { status: 'failed', trigger: 'schedule', limit: 5 }),
  (c) => c.workflows.status('w', 'r'),
  (c) => c.workflows.items('w', 'r', 's', { status: 'failed', limit: 5 }),
  (c) => c.workflows.rerunItems('w', 'r', 's', { idempotencyKey: 'k' }),
  (c) => c.workflows.wait('w', 'r'),
  (c) => c.workflows.executeAndWait('w', {}),
  (c) => c.workflows.cancel('w', 'r'),
  (c) => c.schedules.create('w', { cron: '0 2 * * *', timeZone: 'Europe/Berlin' }),
  (c) => c.schedules.list('w'),
  (c) => c.schedules.get('w', 's'),
  (c) => c.schedules.update('w', 's', { enabled: false }),
  (c) => c.schedules.delete('w', 's'),
  (c) => c.webhooks.create('w', { name: 'H' }),
  (c) => c.webhooks.list('w'),
  (c) => c.webhooks.rotate('w', 'h'),
  (c) => c.webhooks.log('w', 'h'),
  (c) => c.webhooks.delete('w', 'h'),
  (c) => c.webhooks.send('h', { x: 1 }, signed),
  (c) => c.endpoints.create({ url: 'https://shop.example/events', eventTypes: ['key.revoked'] }),
  (c) => c.endpoints.list(),
  (c) => c.endpoints.get('e'),
  (c) => c.endpoints.update('e', { enabled: false }),
  (c) => c.endpoints.delete('e'),
  (c) => c.endpoints.rotate('e', { graceSeconds: 60 }),
  (c) => c.endpoints.test('e'),
  (c) => c.endpoints.deliveries('e', { state: 'failed', limit: 5 }),
  (c) => c.endpoints.resend('e', 'v'),
  (c) => c.endpoints.replay('e', { startDate: '2026-11-21', endDate: '2026-11-22' }),
  (c) => c.toolServers.create({ name: 'crm', kind: 'http', url: 'https://crm.example/tools' }),
  (c) => c.toolServers.list(),
  (c) => c.tools.list({ server: 'crm' }),
  (c) => c.toolServers.get('t'),
  (c) => c.toolServers.getWithEtag('s'),
  (c) => c.toolServers.update('t', { enabled: false }),
  (c) => c.toolServers.delete('t'),
  (c) => c.toolServers.rotate('t', { graceSeconds: 60 }),
  (c) => c.toolServers.check('t'),
  (c) => c.toolServers.try('t', 'refund', { orderId: 'o-1' }),
  (c) => c.events({ after: 'v', limit: 5 }),
  (c) => c.alerts.create({ name: 'Failures', ...alert }),
  (c) => c.alerts.list(),
  (c) => c.alerts.previewNew({ ...alert, days: 7 }),
  (c) => c.alerts.get('a'),
  (c) => c.alerts.update('a', { threshold: 0.5 }),
  (c) => c.alerts.delete('a'),
  (c) => c.alerts.preview('a', 7),
  (c) => c.budgets.create({ name: 'Users', per: 'user', period: 'month', limitUSD: 20 }),
  (c) => c.budgets.list(),
  (c) => c.budgets.get('b'),
  (c) => c.budgets.getWithEtag('b'),
  (c) => c.budgets.update('b', { limitUSD: 5 }, { ifMatch: '"1"' }),
  (c) => c.budgets.delete('b'),
  (c) => c.budgets.windows('b', { bucket: 'ann', limit: 5 }),
  (c) => c.declaration.read(),
  (c) => c.declaration.apply({ prompts: [] }, true),
  (c) => c.agents.limits('a'),
  (c) => c.keys.create({ name: 'K', agentIds: null, permissions: ['execute'] }),
  (c) => c.keys.list(),
  (c) => c.keys.update('k', { name: 'N' }),
  (c) => c.keys.revoke('k'),
  (c) => c.keys.rotate('k'),
  (c) => c.keys.rotate('k', { graceSeconds: 60 }),
  (c) => c.usage(),
  (c) => c.statistics({ level: 'hour', groupBy: 'agent,status', timeZone: 'Europe/Berlin' }),
  (c) => c.setPlan({ name: 'Team', actionsPerMonth: 1000 }),
  (c) => c.updateWorkspace({ name: 'Acme' }),
  (c) => c.providers.put('own', { kind: 'openai-compatible', baseURL: 'https://llm.example/v1' }),
  (c) => c.providers.list(),
  (c) => c.providers.environment(),
  (c) => c.providers.models('own'),
  (c) => c.providers.get('own'),
  (c) => c.providers.delete('own'),
  (c) => c.providers.test('own'),
  (c) => c.prices.put({ model: 'own/m', inputPerMillion: '0.1', outputPerMillion: 2 }),
  (c) => c.prices.list(),
  (c) => c.prices.builtIn('openai'),
  (c) => c.prices.delete('own/m'),
  (c) => c.me(),
  (c) => c.dismiss({ notice: 'firstSteps', days: null }),
  (c) => c.deleteMe(),
  (c) => c.session.identityProviders(),
  (c) => c.members.list(),
  (c) => c.members.update('u', 'editor'),
  (c) => c.members.remove('u'),
  (c) => c.invitations.create({ email: 'a@b.example', role: 'viewer' }),
  (c) => c.views.get(),
  (c) => c.views.getWithEtag(),
  (c) => c.views.put({ views: [{ name: 'Failures', search: 'status=failed' }] }),
  (c) => c.invitations.list(),
  (c) => c.invitations.delete('i'),
  (c) => c.invitations.open('t'),
  (c) => c.invitations.accept({ token: 't', name: 'N', password: 'long enough' }),
];

/** Responds as the contract declares: with or without a body, and with its media type. */
const asDeclared: Step = (response, requests) => {
  const e = find(requests.method, new URL(requests.url, 'http://any').pathname);
  const [status = ''] = Object.keys(e?.responses ?? {});
  if (e?.responses[Number(status)] === null) return void response.writeHead(Number(status)).end();
  const body = { status: 'success', executionId: 'e', workflowRunId: 'r' };
  const [type = 'application/json'] = e?.produces ?? [];
  json(Number(status), body, { 'content-type': type })(response, requests);
};

test('every method sends what the contract declares', async (t) => {
  const { requests, client } = await stage(t, asDeclared);
  const reached = new Set<string>();
  for (const call of calls) {
    await call(client());
    const last = requests.at(-1);
    assert.ok(last);
    const { pathname, searchParams } = new URL(last.url, 'http://any');
    const e = find(last.method, pathname);
    assert.ok(e, `${last.method} ${pathname} is not declared`);
    reached.add(e.id);
    if (e.consumes) assert.deepEqual(last.body, { id: '1', variables: {} });
    else if (e.body)
      assert.ok(Compile(e.body).Check(last.body), `${e.id} ${JSON.stringify(last.body)}`);
    else assert.equal(last.body, null, e.id);
    for (const name of searchParams.keys()) assert.ok(knows(e, name), `${e.id} ${name}`);
  }
  const all = (Object.values(endpoints) as Endpoint[]).filter(
    ({ path }) => !path.startsWith('/v1/'),
  );
  const covered = [...reached, ...Object.keys(withoutMethod)];
  assert.deepEqual(covered.sort(), all.map(({ id }) => id).sort());
});

test('any operation is reached by its route', async (t) => {
  const { requests, client } = await stage(t, asDeclared);
  await client().request('GET /api/agents/{agentId}/executions', { params: { agentId: 'a' } });
  assert.equal(requests[0]?.url, '/api/agents/a/executions');
});

test('the client knows the operations of the contract', () => {
  const declared = (Object.values(endpoints) as Endpoint[])
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ id, method, path, query, body }) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const input = (query && 'query') ?? (body && 'body');
      return [id, { route: `${method} ${path}`, names, input }] as const;
    });
  assert.deepEqual(Object.fromEntries(operations), Object.fromEntries(declared));
});

interface Schema {
  readonly properties?: object;
  readonly patternProperties?: object;
}

function knows({ query }: Endpoint, name: string): boolean {
  const { properties = {}, patternProperties = {} }: Schema = query ?? {};
  const patterns = Object.keys(patternProperties);
  return name in properties || patterns.some((pattern) => new RegExp(pattern).test(name));
}

function find(method: string, path: string): Endpoint | undefined {
  const fitting = (Object.values(endpoints) as Endpoint[]).filter(
    (e) =>
      e.method === method && new RegExp(`^${e.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return fitting.sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
}
