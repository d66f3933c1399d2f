import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { type AgentOptions, ended, run, startExecution } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { openEvents } from '../../../harness/read-events.ts';
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
import { fromId, toId, uuid7 } from '../../../src/core/id.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import type { ExecutedTool } from '../../../src/core/tools/executed-tool.ts';
import type { ToolOutcome, ToolRequest } from '../../../src/core/tools/tool-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { removeBodies } from '../../../src/features/history/statements/bodies.ts';

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

async function start(tool: Partial<ExecutedTool> = {}, options: AgentOptions = {}, more = {}) {
  const agent = await addToolAgent(service, [executedTool(tool)], options);
  return startExecution(service, agent, key, { variables: { text: 'go' }, ...more });
}

/** The next request of a tool, held until it is answered. */
function heldRequest() {
  const arrived = Promise.withResolvers<ToolRequest>();
  const answered = Promise.withResolvers<ToolOutcome>();
  tools.script((request) => {
    arrived.resolve(request);
    return answered.promise;
  });
  return { arrived: arrived.promise, answer: answered.resolve };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}

const refused = { kind: 'refused', retryAfterMs: 0, problem: 'down' } as const;
const unknown = { kind: 'unknown', problem: 'timeout' } as const;

test('an execution calls its tools and answers', async () => {
  const from = tools.requests.length;
  service.models.script(calling(['act', { a: 1 }], ['act', { a: 2 }]), { text: 'done' });
  tools.script(toolResult('one'), toolResult('two'));
  const record = await (await start()).end();
  assert.equal(record.outputText, 'done', JSON.stringify(record));
  assert.deepEqual([record.turns, record.toolCallsMade, record.attempts], [2, 2, 2]);
  assert.deepEqual([record.inputTokens, record.outputTokens], [20, 10]);
  assert.equal(record.toolCalls, undefined);
  assert.deepEqual(
    tools.requests.slice(from).map(({ argumentsJson }) => argumentsJson),
    ['{"a":1}', '{"a":2}'],
  );
  assert.deepEqual(await stepsOf(service, record.executionId), [
    [1, 0, 'done', 0, null],
    [1, 1, 'done', 1, 'one'],
    [1, 2, 'done', 1, 'two'],
    [2, 0, 'done', 0, null],
  ]);
  assert.deepEqual(service.models.calls.at(-1)?.messages?.slice(1), [
    {
      ...{ role: 'assistant', content: '' },
      toolCalls: [
        { id: 'call_1', name: 'act', arguments: { a: 1 } },
        { id: 'call_2', name: 'act', arguments: { a: 2 } },
      ],
    },
    { role: 'tool', toolCallId: 'call_1', content: 'one' },
    { role: 'tool', toolCallId: 'call_2', content: 'two' },
  ]);
});

test('after a lost worker the execution goes on with the next turn: the first one is not repeated', async () => {
  const from = service.models.calls.length;
  const sent = tools.requests.length;
  service.models.script(calling(['act', { a: 1 }]));
  tools.script(toolResult('one'));
  const second = service.models.hold();
  const { id, end } = await start();
  await second.arrived;
  service.models.script({ text: 'again' });
  await loseWorker(service, id);
  const record = await end();
  second.release();
  assert.equal(record.outputText, 'again');
  assert.deepEqual([record.turns, record.toolCallsMade], [2, 1]);
  const calls = service.models.calls.slice(from);
  assert.deepEqual(
    calls.map(({ messages = [] }) => messages.length),
    [0, 3, 3],
  );
  assert.deepEqual(calls[2]?.messages?.at(-1), {
    ...{ role: 'tool', toolCallId: 'call_1', content: 'one' },
  });
  assert.equal(tools.requests.length - sent, 1);
});

test('a call that a lost worker has sent has an unknown outcome, and is not sent again', async () => {
  const sent = tools.requests.length;
  service.models.script(calling(['act', { a: 1 }]));
  const call = heldRequest();
  const { id, end } = await start();
  await call.arrived;
  await loseWorker(service, id);
  const record = await end();
  call.answer(toolResult('late'));
  assert.deepEqual([record.status, record.errorCode], ['failed', 'TOOL_OUTCOME_UNKNOWN']);
  assert.match(record.error, /tcl_\w{26} of the tool "act"/);
  assert.equal(tools.requests.length - sent, 1);
  assert.deepEqual((await stepsOf(service, id)).at(-1), [1, 1, 'unknown', 1, null]);
});

test('a safe call is sent again with the same id', async () => {
  const sent = tools.requests.length;
  service.models.script(calling(['act', { a: 1 }]), { text: 'done' });
  const call = heldRequest();
  const { id, end } = await start({ safe: true });
  await call.arrived;
  tools.script(toolResult('second'));
  await loseWorker(service, id);
  const record = await end();
  call.answer(toolResult('late'));
  assert.equal(record.outputText, 'done');
  const requests = tools.requests.slice(sent);
  assert.deepEqual([requests.length, new Set(requests.map((one) => one.toolCallId)).size], [2, 1]);
  assert.deepEqual((await stepsOf(service, id))[1], [1, 1, 'done', 2, 'second']);
});

test('a refused request is given back, and sent later', async () => {
  service.models.script(calling(['act', { a: 1 }]), { text: 'done' });
  tools.script(refused, refused, toolResult('third'));
  const { id, end } = await start();
  assert.equal((await end()).outputText, 'done');
  assert.deepEqual((await stepsOf(service, id))[1], [1, 1, 'done', 1, 'third']);
});

test('an unknown outcome ends the execution; a safe call is repeated twice, then it is an error', async () => {
  service.models.script(calling(['act', {}]));
  tools.script(unknown);
  const failed = await (await start()).end();
  assert.equal(failed.errorCode, 'TOOL_OUTCOME_UNKNOWN');
  service.models.script(calling(['act', {}]), { text: 'done' });
  tools.script(unknown, unknown, unknown);
  const { id, end } = await start({ safe: true });
  assert.equal((await end()).outputText, 'done');
  assert.deepEqual((await stepsOf(service, id))[1]?.slice(2, 4), ['done', 3]);
  assert.match(String((await stepsOf(service, id))[1]?.[4]), /sent 3 times/);
});

test('an error of a tool is text for the model, or ends the execution', async () => {
  service.models.script(calling(['act', {}]), { text: 'done' });
  tools.script(toolResult('no such customer', true));
  assert.equal((await (await start()).end()).outputText, 'done');
  assert.equal(service.models.calls.at(-1)?.messages?.at(-1)?.content, 'no such customer');
  service.models.script(calling(['act', {}]));
  tools.script(toolResult('no such customer', true));
  const stopped = await (await start({}, { config: { tools: { onError: 'stop' } } })).end();
  assert.equal(stopped.errorCode, 'TOOL_SERVER_ERROR');
});

test('what is no tool of the version, or has no object of arguments, is not sent', async () => {
  const sent = tools.requests.length;
  service.models.script(calling(['other', {}], ['act', 'text']), { text: 'done' });
  const { id, end } = await start();
  const record = await end();
  assert.deepEqual([record.outputText, record.toolCallsMade], ['done', 0]);
  assert.equal(tools.requests.length, sent);
  assert.deepEqual((await stepsOf(service, id)).slice(1, 3), [
    [1, 1, 'done', 0, 'There is no tool of this name.'],
    [1, 2, 'done', 0, 'The arguments are no JSON object.'],
  ]);
});

test('numbers of any size are sent, as JavaScript has them', async () => {
  const sent = tools.requests.length;
  const given = JSON.parse('{"a":[6.02e23,1e18,9007199254740992,12345678901234567890]}');
  service.models.script(calling(['act', given]), { text: 'done' });
  const { end } = await start();
  assert.equal((await end()).toolCallsMade, 1);
  assert.deepEqual(
    tools.requests.slice(sent).map(({ argumentsJson }) => argumentsJson),
    ['{"a":[6.02e+23,1000000000000000000,9007199254740992,12345678901234567000]}'],
  );
});

test('at a limit the model answers without tools, or the execution fails', async () => {
  for (const limit of [{ maxTurns: 1 }, { maxCalls: 1 }]) {
    const sent = tools.requests.length;
    const twice = calling(['act', {}], ['act', {}]);
    service.models.script(twice, { text: 'without' });
    const answered = await start({}, { config: { tools: limit } });
    const record = await answered.end();
    assert.deepEqual([record.outputText, record.turns, record.toolCallsMade], ['without', 2, 0]);
    const last = service.models.calls.at(-1);
    assert.equal(last?.toolChoice, 'none');
    assert.match(String(last?.messages?.at(-1)?.content), /^Not called\. The limit of 1 /);
    service.models.script(twice);
    const failed = await start({}, { config: { tools: { ...limit, onLimit: 'fail' } } });
    const { errorCode, inputTokens, turns, toolCallsMade } = await failed.end();
    assert.deepEqual([errorCode, inputTokens, turns, toolCallsMade], ['TOOL_LIMIT', 10, 1, 0]);
    service.models.script(twice, twice);
    const stubborn = await start({}, { config: { tools: limit } });
    const end = await stubborn.end();
    assert.deepEqual([end.errorCode, end.turns], ['TOOL_LIMIT', 2]);
    assert.deepEqual((await stepsOf(service, stubborn.id)).at(-1)?.slice(0, 3), [2, 0, 'done']);
    assert.equal(tools.requests.length, sent);
  }
});

test('the last turn ends with its execution', async () => {
  service.models.script(calling(['act', {}]), { text: 'done' });
  const { path, end } = await start();
  const { completedAt } = await end();
  const { steps } = (await service.call('GET', `${path}/steps`, { key })).body;
  assert.equal(steps.at(-1).endedAt, completedAt);
});

test('a turn that asks for more calls than any limit allows ends the execution', async () => {
  const asked = (count: number) =>
    calling(...Array.from({ length: count }, () => ['act', {}] as const));
  service.models.script(asked(1_000), { text: 'done' });
  assert.equal((await (await start()).end()).outputText, 'done');
  service.models.script(asked(1_001));
  const { id, end } = await start();
  assert.equal((await end()).errorCode, 'TOOL_LIMIT');
  assert.deepEqual(await stepsOf(service, id), []);
});

test('eight calls of a turn run at a time, and their results keep the order of the calls', async () => {
  const many = Array.from({ length: 10 }, (_, index) => ['act', { a: index }] as const);
  service.models.script(calling(...many), { text: 'done' });
  const held = many.map(() => heldRequest());
  const { id, end } = await start();
  await Promise.all(held.slice(0, 8).map((one) => one.arrived));
  const states = (await stepsOf(service, id)).slice(1).map(([, , state]) => state);
  assert.deepEqual(states, [...Array(8).fill('dispatched'), 'ready', 'ready']);
  for (const [index, one] of held.entries()) {
    const { argumentsJson } = await one.arrived;
    one.answer(toolResult(`${index}: ${argumentsJson}`));
  }
  await end();
  const messages = service.models.calls.at(-1)?.messages?.slice(2) ?? [];
  assert.deepEqual(
    messages.map(({ content }) => content),
    many.map((_, index) => `${index}: {"a":${index}}`),
  );
});

test('a cancel closes the calls: what was sent is unknown, the others are canceled', async () => {
  const many = Array.from({ length: 9 }, () => ['act', {}] as const);
  service.models.script(calling(...many));
  const held = many.slice(1).map(() => heldRequest());
  const { id, path, end } = await start();
  await Promise.all(held.map((one) => one.arrived));
  await service.call('POST', `${path}/cancel`, { key });
  const record = await end();
  for (const one of held) await aborted((await one.arrived).signal);
  for (const one of held) one.answer(toolResult('late'));
  assert.deepEqual([record.status, record.turns, record.toolCallsMade], ['canceled', 1, 9]);
  const states = (await stepsOf(service, id)).slice(1).map(([, , state]) => state);
  assert.deepEqual(states, [...Array(8).fill('unknown'), 'canceled']);
});

test('a request may take no longer than the execution', async () => {
  service.models.script(calling(['act', {}]));
  const call = heldRequest();
  const { end } = await start({}, { config: { timeoutMs: 20_000 } });
  const { timeoutMs } = await call.arrived;
  call.answer(unknown);
  assert.ok(timeoutMs <= 20_000, String(timeoutMs));
  assert.equal((await end()).errorCode, 'TOOL_OUTCOME_UNKNOWN');
});

test('bound values come from the call: the model neither sees nor replaces them', async () => {
  const tool = {
    bind: { customer: 'metadata.customer', by: 'user' },
    inputSchema: {
      ...{ type: 'object', required: ['customer', 'a'] },
      properties: { customer: { type: 'string' }, by: { type: 'string' }, a: { type: 'integer' } },
    },
  };
  service.models.script(calling(['act', { a: 1, customer: 'other' }]), { text: 'done' });
  const labels = { user: 'u1', metadata: { customer: 'c7' } };
  assert.equal((await (await start(tool, {}, labels)).end()).outputText, 'done');
  assert.deepEqual(JSON.parse(tools.requests.at(-1)?.argumentsJson ?? ''), {
    ...{ a: 1, customer: 'c7', by: 'u1' },
  });
  assert.deepEqual(service.models.calls.at(-1)?.tools?.[0]?.parameters, {
    ...{ type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
  });
  const agent = await addToolAgent(service, [executedTool(tool)]);
  const { status, body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' }, user: 'u1' } },
  });
  assert.deepEqual([status, body.code], [400, 'MISSING_METADATA']);
  assert.deepEqual(body.missingMetadata, ['metadata.customer']);
});

test('a turn that fails is retried alone, with the attempts of a turn of its own', async () => {
  const down = new ModelFailure('PROVIDER_ERROR', 'down', { retryAfterMs: 1 });
  service.models.script(down, calling(['act', {}]), down, { text: 'done' });
  const from = tools.requests.length;
  const record = await (await start({}, { config: { maxAttempts: 2 } })).end();
  assert.deepEqual([record.outputText, record.attempts, record.turns], ['done', 4, 2]);
  assert.equal(tools.requests.length - from, 1);
  assert.deepEqual(
    record.attemptList.map(({ errorCode }: { errorCode?: string }) => errorCode ?? null),
    ['PROVIDER_ERROR', null, 'PROVIDER_ERROR', null],
  );
});

test('a fallback model goes on with the turn', async () => {
  const config = { models: ['cueline/echo', 'fake/b'] };
  const down = new ModelFailure('PROVIDER_QUOTA', 'down');
  service.models.script(calling(['act', {}]), down, { text: 'done' });
  const record = await (await start({}, { config })).end();
  assert.deepEqual([record.outputText, record.modelUsed], ['done', 'fake/b']);
  assert.equal(service.models.calls.at(-1)?.messages?.length, 3);
});

test('the schema of the output holds for the last turn', async () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
  const config = { responseFormat: { type: 'json', schema } } as const;
  service.models.script(calling(['act', {}]), { text: 'none' }, { text: '{"a":1}' });
  const from = service.models.calls.length;
  const record = await (await start({}, { config })).end();
  assert.deepEqual([record.outputJson, record.turns], [{ a: 1 }, 2]);
  const asked = service.models.calls.slice(from).map(({ responseFormat }) => responseFormat);
  assert.deepEqual(asked, Array(3).fill(config.responseFormat));
});

test('a record without bodies has none in its steps', async () => {
  service.models.script(calling(['act', { a: 1 }]), { text: 'done' });
  const agent = await addToolAgent(service, [executedTool()]);
  await sql`update agents set store_bodies = false where id = ${agent.id}`.execute(service.db);
  const record = await run(service, agent, key, { text: 'go' });
  assert.equal(record.outputText, 'done');
  assert.deepEqual(await stepsOf(service, record.executionId, 'arguments::text || result'), [
    [1, 0, 'done', 0, null],
    [1, 1, 'done', 1, null],
    [2, 0, 'done', 0, null],
  ]);
});

test('the steps of an execution are listed, with arguments and results', async () => {
  service.models.script({ ...calling(['act', { a: 1 }]), text: 'let me see' }, { text: 'done' });
  tools.script(toolResult('one', true));
  const { path, end } = await start({ safe: true });
  await end();
  const { status, body } = await service.call('GET', `${path}/steps`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  const [first, call, last] = body.steps;
  assert.deepEqual(
    [first.turn, first.kind, first.text, first.inputTokens, first.modelUsed],
    [1, 'model', 'let me see', 10, 'cueline/echo'],
  );
  assert.match(call.toolCallId, /^tcl_/);
  assert.match(call.toolServerId, /^tsv_/);
  const { state, sent, arguments: given, usedArguments, result, isError, errorCode } = call;
  assert.deepEqual(
    { state, sent, given, usedArguments, result, isError, errorCode },
    {
      ...{ state: 'done', sent: 1, given: { a: 1 }, usedArguments: { a: 1 }, result: 'one' },
      ...{ isError: true, errorCode: 'TOOL_SERVER_ERROR' },
    },
  );
  assert.deepEqual([last.turn, last.kind, last.state], [2, 'model', 'done']);
  const { key: executing } = await service.key({ permissions: ['execute'] });
  assert.equal((await service.call('GET', `${path}/steps`, { key: executing })).status, 404);
});

test('a stream carries the turn, and its text is that of the last one; the OpenAI API shows no other', async () => {
  const config = { stream: true } as const;
  const shownFirst = Promise.withResolvers<void>();
  service.models.script(
    async (_, emit) => {
      emit({ type: 'text', text: 'let me see' });
      await shownFirst.promise;
      return calling(['act', {}]);
    },
    { text: 'done' },
  );
  const { path, end } = await start({}, { config });
  const stream = await openEvents(`${service.url}${path}/stream`, { key });
  const first = await stream.until(({ event }) => event === 'text');
  shownFirst.resolve();
  await end();
  const events = [...first, ...(await stream.until(() => false))];
  const shown = events.filter(({ event }) => ['text', 'restart', 'tool'].includes(event));
  assert.deepEqual(
    shown.map(({ event, data }) => [event, data.attempt, data.turn, data.text]),
    [
      ['text', 1, 1, 'let me see'],
      ['restart', 2, undefined, undefined],
      ['text', 2, shown.at(-1)?.data.turn, 'done'],
    ],
  );
  const agent = await addToolAgent(service, [executedTool()], { config });
  service.models.script({ ...calling(['act', {}]), text: 'let me see' }, { text: 'done' });
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: agent.agentId, stream: true, messages: [{ role: 'user', content: 'go' }] },
    }),
  });
  const chunks = (await response.text()).split('\n\n').filter((one) => one.startsWith('data: {'));
  const deltas = chunks.map((one) => JSON.parse(one.slice(6)).choices[0]?.delta?.content ?? '');
  assert.equal(deltas.join(''), 'done');
});

test('the caller of a looping agent adds no tools', async () => {
  const agent = await addToolAgent(service, [executedTool()]);
  await sql`update agents set allow_tools = true where id = ${agent.id}`.execute(service.db);
  const { status, body } = await service.call('POST', '/v1/chat/completions', {
    key,
    body: {
      ...{ model: agent.agentId, messages: [{ role: 'user', content: 'go' }] },
      tools: [{ type: 'function', function: { name: 'mine', parameters: { type: 'object' } } }],
    },
  });
  assert.deepEqual([status, body.error.param], [400, 'tools']);
});

test('the steps go with their record, and their bodies with its bodies', async () => {
  service.models.script(calling(['act', { a: 1 }]), { text: 'done' });
  const { id, path, end } = await start();
  const { agentId } = await end();
  const agent = fromId('agent', agentId) ?? '';
  const [uuid, old] = [fromId('execution', id), uuid7(Date.now() - 3 * 86_400_000)];
  await sql`update agents set bodies_days = 1 where id = ${agent}`.execute(service.db);
  await sql`update execution_steps set execution_id = ${old} where execution_id = ${uuid}`.execute(
    service.db,
  );
  await sql`update executions set id = ${old}, executed_at = executed_at - interval '3 days' where id = ${uuid}`.execute(
    service.db,
  );
  await removeBodies(service.db, { agentId: agent, limit: 100 });
  const oldId = toId('execution', old);
  assert.deepEqual(await stepsOf(service, oldId, "arguments::text || result || 'x'"), [
    [1, 0, 'done', 0, null],
    [1, 1, 'done', 1, null],
    [2, 0, 'done', 0, null],
  ]);
  assert.equal((await service.call('DELETE', path.replace(id, oldId), { key })).status, 204);
  assert.deepEqual(await stepsOf(service, oldId), []);
});

test('a drain gives back what was not sent; what was is recorded as unknown', async () => {
  const others = scriptedTools();
  const second = await startService({ sharedWith: service, tools: others, models: service.models });
  const agent = await addToolAgent(service, [executedTool()]);
  const arrived = Promise.withResolvers<void>();
  const aborted = (request: ToolRequest) =>
    new Promise<ToolOutcome>((resolve) => {
      arrived.resolve();
      request.signal.addEventListener('abort', () => resolve(unknown), { once: true });
    });
  others.script(aborted);
  service.models.script(calling(['act', {}]));
  const { body } = await second.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  await arrived.promise;
  await second.close();
  const record = await ended(service, body.statusUrl, key);
  assert.equal(record.errorCode, 'TOOL_OUTCOME_UNKNOWN');
});
