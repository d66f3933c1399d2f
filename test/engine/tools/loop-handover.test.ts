import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, ended, startExecution } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  loseWorker,
  scriptedTools,
  stepsOf,
  toolResult,
} from '../../../harness/tool-agents.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import type { ExecutedTool } from '../../../src/core/tools/executed-tool.ts';
import type { ToolOutcome, ToolRequest } from '../../../src/core/tools/tool-port.ts';

/** Another model, another claim or another process goes on in the middle of a loop. */

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

async function start(options: AgentOptions = {}, tool: Partial<ExecutedTool> = {}, at = service) {
  const agent = await addToolAgent(service, [executedTool(tool)], options);
  return startExecution(at, agent, key, { variables: { text: 'go' } });
}

/** What a model reads of a turn. */
const read = (a: number, text: string, result: string) => [
  {
    ...{ role: 'assistant', content: text },
    toolCalls: [{ id: 'call_1', name: 'act', arguments: { a } }],
  },
  { role: 'tool', toolCallId: 'call_1', content: result },
];

test('a fallback model takes over with the turns so far, and stays', async () => {
  const from = service.models.calls.length;
  const down = new ModelFailure('PROVIDER_QUOTA', 'down');
  service.models.script(
    { ...calling(['act', { a: 1 }]), text: 'first' },
    down,
    { ...calling(['act', { a: 2 }]), text: 'second' },
    { text: 'done' },
  );
  tools.script(toolResult('one'), toolResult('two'));
  const { id, end } = await start({ config: { models: ['cueline/echo', 'fake/b'] } });
  const record = await end();
  assert.deepEqual([record.outputText, record.modelUsed, record.turns], ['done', 'fake/b', 3]);
  const calls = service.models.calls.slice(from);
  assert.deepEqual(
    calls.map(({ model }) => model),
    ['cueline/echo', 'cueline/echo', 'fake/b', 'fake/b'],
  );
  const told = calls.map(({ messages = [] }) => messages.slice(1));
  const first = read(1, 'first', 'one');
  assert.deepEqual(told, [[], first, first, [...first, ...read(2, 'second', 'two')]]);
  assert.ok(calls.every(({ tools: offered }) => offered?.[0]?.name === 'act'));
  const { body } = await service.call(
    'GET',
    `/api/v1/agents/${record.agentId}/executions/${id}/steps`,
    {
      key,
    },
  );
  assert.deepEqual(
    body.steps
      .filter(({ kind }: { kind: string }) => kind === 'model')
      .map((one: { modelUsed: string }) => one.modelUsed),
    ['cueline/echo', 'fake/b', 'fake/b'],
  );
});

test('with maxAttempts 1, a turn that its worker lost is not repeated, and a safe call is', async () => {
  const config = { maxAttempts: 1 };
  service.models.script(calling(['act', {}]));
  const second = service.models.hold();
  const inTurn = await start({ config });
  await second.arrived;
  const calls = service.models.calls.length;
  await loseWorker(service, inTurn.id);
  const lost = await inTurn.end();
  second.release();
  assert.deepEqual([lost.errorCode, lost.turns], ['WORKER_LOST', 1]);
  assert.equal(service.models.calls.length, calls);
  service.models.script(calling(['act', {}]), { text: 'done' });
  const arrived = Promise.withResolvers<void>();
  const late = Promise.withResolvers<ToolOutcome>();
  tools.script(() => {
    arrived.resolve();
    return late.promise;
  });
  const inCall = await start({ config }, { safe: true });
  await arrived.promise;
  await loseWorker(service, inCall.id);
  assert.equal((await inCall.end()).outputText, 'done');
  late.resolve(toolResult('late'));
});

test('a drain gives back the calls that were not sent, and another process sends them once', async () => {
  const others = scriptedTools();
  const second = await startService({ sharedWith: service, tools: others, models: service.models });
  let arrivals = 0;
  const all = Promise.withResolvers<void>();
  const aborted = (request: ToolRequest) =>
    new Promise<ToolOutcome>((resolve) => {
      if (++arrivals === 8) all.resolve();
      const unknown = { kind: 'unknown', problem: 'aborted' } as const;
      request.signal.addEventListener('abort', () => resolve(unknown), { once: true });
    });
  others.script(...Array.from({ length: 8 }, () => aborted));
  service.models.script(calling(...Array.from({ length: 10 }, (_, a) => ['act', { a }] as const)), {
    text: 'done',
  });
  const { id, path } = await start({}, { safe: true }, second);
  await all.promise;
  await second.close();
  assert.equal((await ended(service, path, key)).outputText, 'done');
  assert.equal(others.requests.length, 8);
  assert.deepEqual(
    (await stepsOf(service, id)).slice(1, 11).map(([, , state, sent]) => [state, sent]),
    [...Array.from({ length: 8 }, () => ['done', 2]), ['done', 1], ['done', 1]],
  );
});
