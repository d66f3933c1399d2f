import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { endpoints } from '../../../../src/faces/reference/operations-index.ts';
import { insertAliases } from '../../../../src/features/agents/statements/slugs.ts';

const service = await startService();
after(service.close);
const { db, workspaceId, url } = service;
const { key } = await service.key({ rateLimits: unlimited });
const alias = `pmpt_Ab:c.d-${'x'.repeat(116)}`;
const slug = 'named';
let agent: TestAgent;
const ids = { executionId: '', batchId: '' };

before(async () => {
  agent = await addAgent(service, { slug, model: 'cueline/echo' });
  await insertAliases(db, { workspaceId, subject: agent.id }, ['other', alias]);
  const body = { variables: { name: 'x' } };
  ids.executionId = (await execute(agent.agentId, body)).body.executionId;
  await service.call('GET', `${agent.path}/executions/${ids.executionId}?wait=60`, { key });
  const { batchId } = (await upload(service, agent, jsonLines(namedLines(1)), { key })).body;
  ids.batchId = batchId;
  await batchWhen(service, `${agent.path}/batches/${batchId}`, key);
});

function execute(name: string, body: object) {
  const path = `/api/v1/agents/${encodeURIComponent(name)}/execute`;
  return service.call('POST', path, { key, body });
}

/** Status and body of each operation on an agent. */
const variables = { variables: { name: 'x' } };
const calls: Readonly<Record<string, { status: number; body?: unknown; headers?: object }>> = {
  getAgent: { status: 200 },
  updateAgent: { status: 200, body: { description: 'Named' } },
  changeAgentStage: { status: 409, body: { action: 'restore' } },
  getAgentLimits: { status: 200 },
  listRefusals: { status: 200 },
  listPins: { status: 200 },
  executeAgent: { status: 202, body: variables },
  estimateCost: { status: 200, body: variables },
  executeAgentInDashboard: { status: 202, body: variables },
  getExecution: { status: 200 },
  streamExecution: { status: 200 },
  listExecutionEvents: { status: 200 },
  listExecutionSteps: { status: 200 },
  cancelExecution: { status: 409 },
  listExecutions: { status: 200 },
  listExecutionsUnversioned: { status: 200 },
  exportExecutions: { status: 200 },
  getStatistics: { status: 200 },
  createBatch: { status: 202, body: '{"id":"1","variables":{"name":"x"}}\n' },
  listBatches: { status: 200 },
  getBatch: { status: 200 },
  getBatchResults: { status: 200 },
  cancelBatch: { status: 409 },
  rerunBatch: { status: 409 },
  deleteExecution: { status: 204 },
  deleteAgent: { status: 409 },
};

const operations = Object.values(endpoints).filter(({ path }) => path.includes('{agentId}'));

async function send({ id, method, path }: (typeof operations)[number], name: string) {
  const { body } = calls[id] ?? {};
  const params: Record<string, string> = { ...ids, agentId: name };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, one) => encodeURIComponent(params[one] ?? ''));
  const session = { cookie: 'a=session', 'x-test-user': service.ownerId, origin: url };
  const isDashboard = id === 'executeAgentInDashboard';
  const response = await fetch(url + filled, {
    method,
    headers: {
      ...(isDashboard ? session : { authorization: `Bearer ${key}` }),
      ...(body !== undefined && {
        'content-type': typeof body === 'string' ? 'application/jsonl' : 'application/json',
      }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { response, text: await response.text() };
}

test('the table names every operation on an agent', () => {
  assert.deepEqual(Object.keys(calls).toSorted(), operations.map(({ id }) => id).toSorted());
});

const [deletesExecution, deletesAgent] = ['deleteExecution', 'deleteAgent'];
const deleting = operations.filter(({ id }) => [deletesExecution, deletesAgent].includes(id));
const others = operations.filter((one) => !deleting.includes(one));

for (const operation of [...others, ...deleting]) {
  test(`${operation.id} takes the slug and aliases, and answers with the identifier`, async () => {
    const unknown = await send(operation, `${alias.slice(0, -1)}y`);
    assert.deepEqual([unknown.response.status, JSON.parse(unknown.text).code], [404, 'NOT_FOUND']);
    const wrongCase = await send(operation, 'Other');
    assert.equal(wrongCase.response.status, 404);
    // A record can be deleted once.
    const names = operation.id === deletesExecution ? [alias] : [slug, 'other', alias];
    for (const name of names) {
      const { response, text } = await send(operation, name);
      assert.equal(response.status, calls[operation.id]?.status, text);
      const answer = text + [...response.headers.values()].join(' ');
      const agentPath = /\/agents\/([^/"]+)\//.exec(answer)?.[1] ?? agent.agentId;
      const named = /"agentId":"([^"]*)"/.exec(answer)?.[1] ?? agent.agentId;
      assert.deepEqual([agentPath, named], [agent.agentId, agent.agentId], answer);
    }
  });
}

test('an identifier without an agent stays unknown, and one of another kind is no name', async () => {
  for (const name of [toId('agent', workspaceId), ids.executionId, '%', ' ', '\0']) {
    assert.equal((await execute(name, variables)).status, 404, name);
  }
});
