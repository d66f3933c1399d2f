import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TSchema } from 'typebox';
import { addAgent } from '../../../../harness/agents.ts';
import { alertSettings } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';
import { endpoints } from '../../../../src/faces/reference/operations-index.ts';
import { insertAliases } from '../../../../src/features/agents/statements/slugs.ts';
import { agentPaths } from '../../../../src/http/request/agent-paths.ts';

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const { key } = await service.key();
const agent = await addAgent(service, { slug: 'slugged', model: 'cueline/echo' });
const second = await addAgent(service, { slug: 'second', model: 'cueline/echo' });
const { agentId } = agent;
await insertAliases(db, { workspaceId, subject: agent.id }, ['pmpt_1', 'Other']);

const post = (path: string, body: object) => service.call('POST', path, { key, body });
const patch = (path: string, body: object) => service.call('PATCH', path, { key, body });
const get = async (path: string) => (await service.call('GET', path, { key })).body;

test('each field of a request that names an agent is marked', () => {
  const names = /^agentIds?$/;
  for (const { id, ...declared } of Object.values(endpoints)) {
    const { query, body } = declared as { query?: TSchema; body?: TSchema };
    const fields = [...fieldsIn(query), ...fieldsIn(body)].filter((name) => names.test(name));
    // A list in one text; its handler reads it.
    if (id === 'getWorkspaceStatistics') continue;
    assert.equal(agentPaths(query).length + agentPaths(body).length, fields.length, id);
  }
});

function fieldsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items } = schema as { properties?: object; items?: unknown };
  return [
    ...Object.entries(properties).flatMap(([name, one]) => [name, ...fieldsIn(one)]),
    ...fieldsIn(items),
  ];
}

test('a key is issued for agents by name; two names of one agent are one', async () => {
  const body = { name: 'K', permissions: ['execute'], agentIds: ['slugged', agentId, 'pmpt_1'] };
  const issued = await post('/api/v1/keys', body);
  assert.deepEqual([issued.status, issued.body.agentIds], [201, [agentId]]);
  const unknown = await post('/api/v1/keys', { ...body, agentIds: ['slugged', 'other'] });
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'NOT_FOUND']);
});

test('alerts and endpoints', async () => {
  const alert = { ...alertSettings, name: 'A', agentIds: ['pmpt_1'] };
  const created = await post('/api/v1/alerts', alert);
  assert.deepEqual([created.status, created.body.agentIds], [201, [agentId]]);
  const path = `/api/v1/alerts/${created.body.alertId}`;
  const changed = await patch(path, { agentIds: ['second', 'Other'] });
  assert.deepEqual(changed.body.agentIds.toSorted(), [agentId, second.agentId].toSorted());
  const preview = await post('/api/v1/alerts/preview', { ...alert, days: 1 });
  assert.equal(preview.status, 200);

  const input = { url: 'https://hooks.example.com/x', eventTypes: ['execution.failed'] };
  const endpoint = await post('/api/v1/endpoints', { ...input, agentIds: ['slugged'] });
  assert.deepEqual([endpoint.status, endpoint.body.agentIds], [201, [agentId]]);
  const edited = await patch(`/api/v1/endpoints/${endpoint.body.endpointId}`, {
    agentIds: ['second'],
  });
  assert.deepEqual(edited.body.agentIds, [second.agentId]);
  const { agentIds: _, ...fields } = alert;
  for (const [where, body] of [
    ['/api/v1/alerts', { ...fields, agentIds: ['nobody'] }],
    ['/api/v1/endpoints', { ...input, agentIds: ['nobody'] }],
  ] as const) {
    assert.equal((await post(where, body)).status, 404, where);
  }
});

test('steps and fallbacks of workflows, whose definitions keep the identifiers', async () => {
  const definition = (name: string) => ({
    input: { required: ['name'] },
    steps: [
      {
        ...{ name: 'one', agentId: name, variables: { name: '{{input.name}}' } },
        fallback: { agentId: 'second', variables: { name: 'x' } },
      },
    ],
  });
  const agents = ({ steps }: { steps: { agentId: string; fallback: { agentId: string } }[] }) =>
    steps.map((step) => [step.agentId, step.fallback.agentId]);
  const expected = [[agentId, second.agentId]];
  const created = await post('/api/v1/workflows', { name: 'W', definition: definition('pmpt_1') });
  assert.equal(created.status, 201, created.body.message);
  assert.deepEqual(agents(created.body.definition), expected);
  const path = `/api/v1/workflows/${created.body.workflowId}`;
  const version = await post(`${path}/versions`, { definition: definition('slugged') });
  assert.deepEqual(agents(version.body.definition), expected);
  const valid = await post('/api/v1/workflows/validate', { definition: definition('Other') });
  assert.deepEqual([valid.body.problems, agents(valid.body.definition)], [[], expected]);
  const wrong = await post('/api/v1/workflows/validate', { definition: definition('nobody') });
  assert.equal(wrong.body.problems[0].message, 'There is no agent nobody.');
});

test('filters of the history, of exports, of statistics and of erasures', async () => {
  for (const { path } of [agent, second]) {
    const { executionId } = (await post(`${path}/execute`, { variables: { name: 'x' } })).body;
    await get(`${path}/executions/${executionId}?wait=60`);
  }
  const listed = await get('/api/v1/executions?agentId=pmpt_1,nobody');
  assert.deepEqual(
    listed.executions.map((one: { agentId: string }) => one.agentId),
    [agentId],
  );
  assert.equal((await get('/api/v1/executions?agentId=nobody')).pagination.total, 0);
  assert.equal((await get('/api/v1/executions?agentId=slugged,second')).pagination.total, 2);
  const exported = await fetch(
    `${service.url}/api/v1/executions/export?format=jsonl&agentId=Other`,
    { headers: { authorization: `Bearer ${key}` } },
  );
  assert.deepEqual(
    (await exported.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).agentId),
    [agentId],
  );
  const statistics = '/api/v1/statistics?groupBy=agent&agentIds=';
  const { buckets } = await get(`${statistics}slugged,nobody`);
  assert.deepEqual(
    buckets.map((one: { agentId: string }) => one.agentId),
    [agentId],
  );
  const erasure = await post('/api/v1/erasures', { user: 'u', agentId: 'pmpt_1' });
  assert.deepEqual([erasure.status, erasure.body.agentId], [202, agentId]);
  assert.equal((await post('/api/v1/erasures', { user: 'u', agentId: 'nobody' })).status, 404);
});

test('a batch list, a rerun and an idempotency key know one agent by all its names', async () => {
  const body = { variables: { name: 'same' } };
  const call = (name: string, more: object = {}) =>
    service.call('POST', `/api/v1/agents/${name}/execute`, {
      ...{ key, headers: { 'idempotency-key': 'once' } },
      body: { ...body, ...more },
    });
  const first = await call('pmpt_1');
  assert.deepEqual([first.status, first.body.agentId], [202, agentId]);
  assert.equal(first.body.statusUrl, `${agent.path}/executions/${first.body.executionId}`);
  for (const name of ['slugged', agentId]) {
    const again = await call(name);
    assert.equal(again.body.executionId, first.body.executionId);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  }
  const { executionId } = first.body;
  const rerun = await post('/api/v1/agents/Other/execute', { ...body, rerunOf: executionId });
  assert.equal(rerun.status, 202);
});
