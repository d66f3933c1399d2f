import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, startExecution } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  loseWorker,
  scriptedTools,
  toolResult,
} from '../../../harness/tool-agents.ts';
import { unknownCost } from '../../../src/core/model/model-port.ts';
import type { ToolOutcome } from '../../../src/core/tools/tool-port.ts';

/** Limits of cost and budgets of executions that call tools: each turn is a call of the model. */

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const model = 'cueline/echo';
/** Of each turn: 10 tokens. */
await addPrice(service, { model, perToken: 0.0001 });

const cost = { usd: '0.0009', known: true } as const;
const turn = { ...calling(['act', { a: 1 }]), cost };

async function start({ config, ...options }: AgentOptions = {}, limitUSD = 1) {
  const more = { model, config: { ...config, maxTokens: 10 }, ...options };
  const agent = await addToolAgent(service, [executedTool()], more);
  const budgetId = await addBudget(service, { limitUSD, agentIds: [agent.id] });
  const started = await startExecution(service, agent, key, { variables: { text: 'go' } });
  return { ...started, windows: () => windowsOf(service.db, budgetId) };
}

test('each turn is reserved before it is sent and settled when it ends', async () => {
  service.models.script(turn, { text: 'done', cost });
  const held = Promise.withResolvers<ToolOutcome>();
  const arrived = Promise.withResolvers<void>();
  tools.script(() => {
    arrived.resolve();
    return held.promise;
  });
  const { end, windows } = await start();
  await arrived.promise;
  const spent = { bucket: '', unknownCalls: 0 };
  assert.deepEqual(await windows(), [{ ...spent, reserved: '0', settled: '0.0009', calls: 1 }]);
  held.resolve(toolResult('one'));
  const record = await end();
  assert.deepEqual([record.status, record.costUSD], ['success', 0.0018]);
  assert.deepEqual([record.reservedUSD, record.overrunUSD], [0.002, 0]);
  assert.deepEqual(await windows(), [{ ...spent, reserved: '0', settled: '0.0018', calls: 2 }]);
});

test('a turn that no budget has room for is not sent', async () => {
  const from = service.models.calls.length;
  service.models.script(turn);
  const { end, windows } = await start({}, 0.0015);
  const record = await end();
  assert.deepEqual([record.errorCode, record.turns], ['BUDGET_EXCEEDED', 1]);
  assert.equal(service.models.calls.length - from, 1);
  const [window] = await windows();
  assert.deepEqual([window?.reserved, window?.settled], ['0', '0.0009']);
});

test('a turn that its limit of cost has no room for is not sent', async () => {
  const from = service.models.calls.length;
  service.models.script(turn);
  const record = await (await start({ config: { maxCostUSD: 0.0015 } })).end();
  assert.deepEqual([record.errorCode, record.turns, record.costUSD], ['COST_LIMIT', 1, 0.0009]);
  assert.equal(service.models.calls.length - from, 1);
});

test('a turn whose cost is unknown counts with its bound', async () => {
  service.models.script({ ...turn, cost: unknownCost });
  const { end, windows } = await start({ config: { maxCostUSD: 0.0019 } });
  const record = await end();
  assert.deepEqual([record.errorCode, record.costKnown], ['COST_LIMIT', false]);
  const [window] = await windows();
  assert.deepEqual([window?.reserved, window?.settled], ['0', '0.001']);
  assert.deepEqual([window?.calls, window?.unknownCalls], [1, 1]);
});

test('a worker that is lost between two turns is charged for no call', async () => {
  service.models.script({ ...turn, cost });
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<ToolOutcome>();
  tools.script(() => {
    arrived.resolve();
    return held.promise;
  });
  const { id, end, windows } = await start();
  await arrived.promise;
  await loseWorker(service, id);
  await end();
  held.resolve(toolResult('late'));
  const [window] = await windows();
  assert.deepEqual([window?.reserved, window?.settled, window?.calls], ['0', '0.0009', 1]);
});
