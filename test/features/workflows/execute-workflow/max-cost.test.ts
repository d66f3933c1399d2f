import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addPrice } from '../../../../harness/budgets.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const agent = await addAgent(service, { model, config: { maxTokens: 10 } });
const { path } = await makeWorkflow(service, greeting(agent.agentId));
const input = { name: 'you' };

const execute = (more: object, headers: Record<string, string> = {}, by = key) =>
  service.call('POST', `${path}/execute`, { key: by, headers, body: { input, ...more } });
const ended = async (statusUrl: string, by = key) =>
  (await service.call('GET', `${statusUrl}?wait=60`, { key: by })).body;

test('the limit is part of the run, wherever it is shown', async () => {
  const { body: accepted } = await execute({ maxCostUSD: 0.05 });
  const run = await ended(accepted.statusUrl);
  assert.deepEqual([run.status, run.maxCostUSD], ['success', 0.05]);
  const { body: listed } = await service.call('GET', `${path}/runs`, { key });
  assert.equal(listed.runs[0].maxCostUSD, 0.05);
  const { body: unlimited } = await execute({});
  assert.ok(!('maxCostUSD' in (await ended(unlimited.statusUrl))));
});

test('a repeated call may have another limit, and gets the first run', async () => {
  const headers = { 'idempotency-key': 'once' };
  const { body: first } = await execute({ maxCostUSD: 1 }, headers);
  const { status, body: again } = await execute({ maxCostUSD: 2 }, headers);
  assert.deepEqual([status, again.workflowRunId], [202, first.workflowRunId]);
  assert.equal((await ended(first.statusUrl)).maxCostUSD, 1);
});

test('a limit is a number above 0', async () => {
  for (const maxCostUSD of [0, -1, 1_000_001, '1', null]) {
    const { status, body } = await execute({ maxCostUSD });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST'], String(maxCostUSD));
    assert.match(body.message, /"maxCostUSD" must be a number above 0/);
  }
  const { body } = await execute({ maxCostUSD: 1e-30 });
  const run = await ended(body.statusUrl);
  assert.deepEqual([run.status, run.steps[0].errorCode], ['failed', 'COST_LIMIT']);
});

test('a key for browsers sees neither the limit nor what was spent', async () => {
  const permissions = ['execute'] as const;
  for (const allowedOrigins of [[], ['https://a.example']]) {
    const { key: own } = await service.key({ permissions: [...permissions], allowedOrigins });
    const { body } = await execute({ maxCostUSD: 0.0005 }, {}, own);
    const run = await ended(body.statusUrl, own);
    const isShown = allowedOrigins.length === 0;
    assert.equal('maxCostUSD' in run, isShown);
    assert.equal(run.steps[0].errorCode, 'COST_LIMIT');
    for (const error of [run.error, run.steps[0].error]) assert.equal(/0\.0/.test(error), isShown);
  }
});
