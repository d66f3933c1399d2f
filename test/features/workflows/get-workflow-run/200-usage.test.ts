import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { createClient } from '../../../../src/client/index.ts';
import { ModelFailure, noCost } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

/** `include=usage` adds tokens and costs of a workflow run, its steps and their items. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const other = await addAgent(service, { model: 'cueline/echo?tokens=7' });
const { path, workflowId } = await makeWorkflow(service, {
  input: { required: ['names'] },
  steps: [
    {
      name: 'each',
      agentId: agent.agentId,
      forEach: { list: '{{input.names}}', concurrency: 100, max: 1_000 },
      variables: { name: '{{item}}' },
      fallback: { agentId: other.agentId, variables: { name: '{{item}}' } },
    },
    { name: 'skipped', agentId: agent.agentId, when: 'false', variables: { name: 'x' } },
    { name: 'last', agentId: other.agentId, variables: { name: 'y' }, after: ['each'] },
  ],
});

const count = 130;
const usage = { inputTokens: 40, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
service.models.script(
  new ModelFailure('PROVIDER_ERROR', 'No.', { retryable: false, usage, cost: noCost }),
);
const names = Array.from({ length: count }, (_, at) => `n${at}`);
const started = await service.call('POST', `${path}/execute`, { key, body: { input: { names } } });
const { statusUrl, workflowRunId } = started.body;
const { body: run } = await service.call('GET', `${statusUrl}?wait=60&include=usage`, { key });
assert.equal(run.status, 'success');

interface Usage {
  readonly executions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUSD: number;
  readonly costUnknown: number;
}

test('a step sums its items, and the run its steps, with failed executions', async () => {
  const [each, skipped, last] = run.steps;
  const { rows } = await sql<Usage>`
    select count(*)::int as executions, sum(input_tokens)::int as input_tokens,
      sum(output_tokens)::int as output_tokens, sum(cost_usd)::float8 as "costUSD",
      count(*) filter (where not cost_known)::int as cost_unknown
    from executions where step_name = 'each'`.execute(service.db);
  assert.deepEqual(each.usage, rows[0]);
  assert.equal(each.usage.executions, count + 1);
  assert.ok(each.usage.inputTokens > 40);
  assert.equal(last.usage.executions, 1);
  assert.deepEqual(skipped.usage, {
    ...{ executions: 0, inputTokens: 0, outputTokens: 0, costUSD: 0, costUnknown: 0 },
  });
  for (const field of ['executions', 'inputTokens', 'outputTokens', 'costUnknown'] as const) {
    assert.equal(run.usage[field], each.usage[field] + last.usage[field], field);
  }
});

test('each item has its own, also beyond those that the run shows', async () => {
  const items = `${statusUrl}/steps/each/items?include=usage&limit=100`;
  const { body: first } = await service.call('GET', items, { key });
  assert.deepEqual(first.items, run.steps[0].items);
  const { body: second } = await service.call('GET', `${items}&offset=100`, { key });
  const all: { readonly usage: Usage }[] = [...first.items, ...second.items];
  assert.equal(all.length, count);
  const failed = all.filter((one) => one.usage.executions === 2);
  assert.equal(failed.length, 1);
  const tokens = all.reduce((sum, one) => sum + one.usage.inputTokens, 0);
  assert.equal(tokens, run.steps[0].usage.inputTokens);
});

test('without the parameter there is none; the client supports it', async () => {
  const { body } = await service.call('GET', statusUrl, { key });
  assert.ok(
    !('usage' in body) && !('usage' in body.steps[0]) && !('usage' in body.steps[0].items[0]),
  );
  const cueline = createClient({ baseURL: service.url, key });
  const read = await cueline.workflows.status(workflowId, workflowRunId, { include: 'usage' });
  assert.deepEqual(read.usage, run.usage);
});

test('it needs the permission to read', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  const body = { input: { names: ['only'] } };
  const { body: mine } = await service.call('POST', `${path}/execute`, { key: own, body });
  await service.call('GET', `${mine.statusUrl}?wait=60`, { key: own });
  for (const url of [`${mine.statusUrl}?`, `${mine.statusUrl}/steps/each/items?`]) {
    const { status, body } = await service.call('GET', `${url}include=usage`, { key: own });
    assert.equal(status, 403);
    assert.equal(body.code, 'PERMISSION_DENIED');
  }
  const { status } = await service.call('GET', `${statusUrl}?include=all`, { key });
  assert.equal(status, 400);
});

test('a list has it for each run, up to ten of them', async () => {
  const call = { key, body: { input: { names: ['one more'] } } };
  const { body: more } = await service.call('POST', `${path}/execute`, call);
  await service.call('GET', `${more.statusUrl}?wait=60`, { key });
  const { body } = await service.call('GET', `${path}/runs?include=usage&limit=10`, { key });
  const usageOf = (id: string) =>
    body.runs.find((one: { workflowRunId: string }) => one.workflowRunId === id).usage;
  assert.equal(usageOf(more.workflowRunId).executions, 2);
  assert.deepEqual(usageOf(workflowRunId), run.usage);
  const { body: plain } = await service.call('GET', `${path}/runs`, { key });
  assert.ok(plain.runs.every((one: object) => !('usage' in one)));
  const tooMany = await service.call('GET', `${path}/runs?include=usage&limit=11`, { key });
  assert.equal(tooMany.status, 400);
  assert.match(tooMany.body.message, /"limit" must be at most 10 with "include=usage"/);
});
