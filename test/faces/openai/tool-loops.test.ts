import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ended, run } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { deployed, stream } from '../../../harness/openai-agents.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { openUnsealed, unsealed } from '../../../harness/setups.ts';
import {
  answerText,
  callIdOf,
  startThinkingProvider,
  type ThinkingAPI,
  thinkingAPIs,
  thinkingModels,
  thoughts,
  toolName,
} from '../../../harness/thinking-provider.ts';
import { fromId } from '../../../src/core/id.ts';
import type { ModelPort } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { createModels } from '../../../src/models/registry.ts';

/** Loops of tools over models that think: the second turn gets the reasoning of the first one, whatever the client sends back. */

/** The id of all calls; null for one of its own for each. */
let repeatedId: string | null = null;
const provider = await startThinkingProvider((number) => repeatedId ?? callIdOf(number));
after(provider.close);
const registry = createModels({ open: openUnsealed, env: {}, allowedHosts: [provider.host] });
after(() => registry.close());
const models: ModelPort = {
  call(call, emit) {
    const name = call.model.split('/')[0] as ThinkingAPI;
    const setup = { provider: unsealed(provider.settings[name]), price: null };
    return registry.call({ ...call, setup }, emit);
  },
};
const service = await startService({ models });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

const tools = [{ name: toolName, parameters: { type: 'object' } }];
const question = { role: 'user', content: 'Weather?' };
const city = { city: 'Bern' };
const result = 'Sun';

const agents = new Map<string, Awaited<ReturnType<typeof deployed>>>();
for (const api of thinkingAPIs) agents.set(api, await thinkingAgent(api));

interface AgentInput {
  readonly agentConfig?: object;
  readonly messages?: readonly object[];
  readonly [field: string]: unknown;
}

function thinkingAgent(api: ThinkingAPI, input: AgentInput = {}) {
  const { agentConfig = {}, messages = [{ placeholder: 'history' }], ...more } = input;
  const version = { messages, tools, reasoningEffort: 'medium' };
  return deployed(service, version, {
    ...{ optionalVariables: ['history'], ...more },
    agentConfig: { ...agentConfig, model: thinkingModels[api], maxAttempts: 1 },
  });
}

interface Call {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a client has of the message, in the form of its API
  readonly sent: any[];
}

interface Client {
  /** The call of the tool in the answer to the question. `isWhole`: the client keeps all of the message that it knows how to send back. */
  ask(slug: string, isWhole: boolean, by?: string): Promise<Call>;
  /** The text of the answer to the result. */
  answer(slug: string, call: Call, by?: string): Promise<string>;
}

async function post(path: string, body: object, by: string) {
  const response = await service.call('POST', path, { key: by, body });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body;
}

const chatPath = '/v1/chat/completions';
const responsesPath = '/v1/responses';
const toolCall = ({ id, function: called }: { id: string; function: object }) => ({
  ...{ id, type: 'function', function: called },
});

const chat: Client = {
  async ask(model, isWhole, by = key) {
    const { choices } = await post(chatPath, { model, messages: [question] }, by);
    const { message } = choices[0];
    const { tool_calls: calls } = message;
    const bare = { role: 'assistant', content: null, tool_calls: calls.map(toolCall) };
    return { id: calls[0].id, sent: [isWhole ? message : bare] };
  },
  async answer(model, { id, sent }, by = key) {
    const messages = [question, ...sent, { role: 'tool', tool_call_id: id, content: result }];
    const { choices } = await post(chatPath, { model, messages }, by);
    return choices[0].message.content;
  },
};

const chatStream: Client = {
  async ask(model, isWhole) {
    const body = { model, messages: [question], stream: true };
    const { events } = await stream(service, chatPath, key, body);
    const deltas = events.flatMap(({ choices = [] }) => choices.map((one: Delta) => one.delta));
    const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls).map(toolCall);
    const reasoning_content = deltas.map((delta) => delta.reasoning_content ?? '').join('');
    const message = { role: 'assistant', content: null, tool_calls: calls };
    return {
      id: calls[0]?.id ?? '',
      sent: [{ ...message, ...(isWhole && reasoning_content !== '' && { reasoning_content }) }],
    };
  },
  answer: chat.answer,
};
// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Delta = { readonly delta: any };

type Item = {
  readonly type: string;
  readonly call_id: string;
  readonly content: { text: string }[];
};
const callAmong = (output: readonly Item[], isWhole: boolean): Call => {
  const calls = output.filter(({ type }) => type === 'function_call');
  return { id: calls[0]?.call_id ?? '', sent: [...(isWhole ? output : calls)] };
};

const responses: Client = {
  async ask(model, isWhole, by = key) {
    const { output } = await post(responsesPath, { model, input: [question] }, by);
    return callAmong(output, isWhole);
  },
  async answer(model, { id, sent }, by = key) {
    const output = { type: 'function_call_output', call_id: id, output: result };
    const body = await post(responsesPath, { model, input: [question, ...sent, output] }, by);
    const message = body.output.find(({ type }: Item) => type === 'message');
    return message?.content[0].text ?? JSON.stringify(body);
  },
};

const responseStream: Client = {
  async ask(model, isWhole) {
    const body = { model, input: [question], stream: true };
    const { events } = await stream(service, responsesPath, key, body);
    return callAmong(events.at(-1).response.output, isWhole);
  },
  answer: responses.answer,
};

const native: Client = {
  async ask(slug, _isWhole, by = key) {
    const record = await run(service, pathOf(slug), by, { history: [question] });
    assert.equal(record.status, 'success', JSON.stringify(record));
    const { toolCalls } = record;
    const sent = [{ role: 'assistant', content: record.outputText, toolCalls }];
    return { id: toolCalls[0].id, sent };
  },
  async answer(slug, { id, sent }, by = key) {
    const history = [question, ...sent, { role: 'tool', toolCallId: id, content: result }];
    const record = await run(service, pathOf(slug), by, { history });
    return record.outputText ?? JSON.stringify(record);
  },
};

const clients = { chat, chatStream, responses, responseStream, native };

function pathOf(slug: string) {
  return { path: `/api/v1/agents/${slug}` };
}

function slugOf(api: ThinkingAPI): string {
  return agents.get(api)?.slug ?? '';
}

/** What the last request had of the first turn, as its API has it. */
function lastRequest() {
  return provider.requests.at(-1)?.body;
}

const thinkingIn = (body: { thinking?: object; additionalModelRequestFields?: object }) =>
  JSON.stringify([body.thinking, body.additionalModelRequestFields]);

describe('the reasoning of the first turn is in the second one', () => {
  for (const api of thinkingAPIs) {
    for (const [name, client] of Object.entries(clients)) {
      for (const isWhole of name === 'native' ? [false] : [false, true]) {
        test(`${api}, ${name}, ${isWhole ? 'as it came' : 'only the calls'}`, async () => {
          const call = await client.ask(slugOf(api), isWhole);
          const { length } = provider.requests;
          assert.equal(await client.answer(slugOf(api), call), answerText);
          assert.equal(provider.requests.length, length + 1);
          const body = lastRequest();
          const text = JSON.stringify(body.messages ?? body.input);
          if (api !== 'gemini') assert.ok(text.includes(thoughts), text);
          const isSigned = !['deepseek', 'gateway'].includes(api);
          assert.equal(text.includes(`"signature of ${call.id}"`), isSigned, text);
          if (['anthropic', 'bedrock'].includes(api)) assert.match(thinkingIn(body), /enabled/);
        });
      }
    }
  }
});

const unknownId = 'call_of_nobody';
const unknown: Readonly<Record<keyof typeof clients, Call>> = {
  chat: chatCall({}),
  chatStream: chatCall({}),
  responses: { id: unknownId, sent: [functionCall()] },
  responseStream: { id: unknownId, sent: [functionCall()] },
  native: nativeCall(),
};

function chatCall(message: object, call: object = {}): Call {
  const called = { name: toolName, arguments: JSON.stringify(city) };
  const toolCalls = [{ id: unknownId, type: 'function', function: called, ...call }];
  const sent = { role: 'assistant', content: null, tool_calls: toolCalls, ...message };
  return { id: unknownId, sent: [sent] };
}

function functionCall() {
  const called = { name: toolName, arguments: JSON.stringify(city) };
  return { type: 'function_call', call_id: unknownId, ...called };
}

function nativeCall(): Call {
  const toolCalls = [{ id: unknownId, name: toolName, arguments: city }];
  return { id: unknownId, sent: [{ role: 'assistant', toolCalls }] };
}

describe('without the reasoning of the first turn, what the provider accepts is sent', () => {
  for (const api of thinkingAPIs) {
    for (const name of ['chat', 'responses', 'native'] as const) {
      test(`${api}, ${name}`, async () => {
        assert.equal(await clients[name].answer(slugOf(api), unknown[name]), answerText);
        const body = lastRequest();
        const { messages = [] } = body;
        if (api === 'anthropic') assert.equal(body.thinking?.type, 'disabled');
        if (api === 'bedrock') assert.doesNotMatch(thinkingIn(body), /enabled/);
        if (api === 'deepseek') assert.equal(messages[1].reasoning_content, '');
        if (api !== 'gemini') return;
        const { extra_content: extra } = messages[1].tool_calls[0];
        assert.equal(extra.google.thought_signature, 'skip_thought_signature_validator');
      });
    }
  }

  test('it holds for this call alone, and the record says so', async () => {
    const history = [
      question,
      ...unknown.native.sent,
      { role: 'tool', toolCallId: unknownId, content: result },
    ];
    const record = await run(service, pathOf(slugOf('anthropic')), key, { history });
    assert.deepEqual([record.status, record.settingsNotApplied], ['success', ['reasoningEffort']]);
    assert.equal(record.attempts, 1);
    const again = await run(service, pathOf(slugOf('anthropic')), key, { history: [question] });
    assert.deepEqual([again.reasoningText, again.settingsNotApplied], [thoughts, undefined]);
  });
});

describe('what a client sends of the reasoning is passed on', () => {
  const signature = `signature of ${unknownId}`;
  const reasoningItem = {
    ...{ type: 'reasoning', id: 'rs_1', encrypted_content: signature },
    summary: [{ type: 'summary_text', text: thoughts }],
  };
  const items: Call = { id: unknownId, sent: [reasoningItem, functionCall()] };
  const sent: readonly [ThinkingAPI, string, Client, Call][] = [
    ['deepseek', 'reasoning_content', chat, chatCall({ reasoning_content: thoughts })],
    ['deepseek', 'a reasoning item', responses, items],
    ['gateway', 'reasoning_content', chat, chatCall({ reasoning_content: thoughts })],
    ['gpt', 'an item with encrypted_content', responses, items],
    ['anthropic', 'an item with encrypted_content', responses, items],
    [
      ...(['anthropic', 'thinking_blocks', chat] as const),
      chatCall({ thinking_blocks: [{ type: 'thinking', thinking: thoughts, signature }] }),
    ],
    [
      ...(['bedrock', 'reasoning_details', chat] as const),
      chatCall({ reasoning_details: [{ type: 'reasoning.text', text: thoughts, signature }] }),
    ],
    [
      ...(['gemini', 'extra_content', chat] as const),
      chatCall({}, { extra_content: { google: { thought_signature: signature } } }),
    ],
  ];
  for (const [api, form, client, call] of sent) {
    test(`${api}: ${form}`, async () => {
      const { length } = provider.requests;
      assert.equal(await client.answer(slugOf(api), call), answerText);
      assert.equal(provider.requests.length, length + 1);
      const text = JSON.stringify(lastRequest());
      if (api !== 'gemini') assert.ok(text.includes(thoughts), text);
      if (!['deepseek', 'gateway'].includes(api)) assert.ok(text.includes(signature), text);
    });
  }

  test('no record shows it: a list of messages has none', async () => {
    const [message] = chatCall({ reasoning_content: thoughts }).sent;
    const messages = [
      ...[question, message, { role: 'tool', tool_call_id: unknownId, content: result }],
      { role: 'assistant', content: answerText, reasoning_content: 'Of an answer.' },
      { role: 'user', content: 'Thanks' },
    ];
    const { id } = await post(chatPath, { model: slugOf('deepseek'), messages }, key);
    const [, called, , answered] = lastRequest().messages;
    assert.deepEqual(
      [called.reasoning_content, answered.reasoning_content],
      [thoughts, 'Of an answer.'],
    );
    const path = `/api/v1/agents/${slugOf('deepseek')}/executions/${id}`;
    const { body } = await service.call('GET', path, { key });
    const { inputVariables, messages: shown } = body;
    assert.deepEqual(Object.keys(inputVariables.history[1]).sort(), [
      'content',
      'role',
      'toolCalls',
    ]);
    assert.doesNotMatch(JSON.stringify([inputVariables, shown]), /look it up|Of an answer/);
  });

  test('what another provider has signed is left out', async () => {
    const foreign = { ...reasoningItem, encrypted_content: 'of somebody else' };
    for (const api of ['anthropic', 'bedrock', 'gpt'] as const) {
      const call = { id: unknownId, sent: [foreign, functionCall()] };
      assert.equal(await responses.answer(slugOf(api), call), answerText);
      assert.doesNotMatch(JSON.stringify(lastRequest()), /of somebody else/);
    }
  });
});

describe('callers that may read the record see the reasoning', () => {
  test('in messages, items, deltas and events', async () => {
    const model = slugOf('anthropic');
    const completion = await post(chatPath, { model, messages: [question] }, key);
    assert.equal(completion.choices[0].message.reasoning_content, thoughts);
    const [first] = (await chatStream.ask(model, true)).sent;
    assert.equal(first.reasoning_content, thoughts);
    const response = await post(responsesPath, { model, input: [question] }, key);
    const [item, call] = response.output;
    assert.deepEqual(item.summary, [{ type: 'summary_text', text: thoughts }]);
    assert.equal(item.encrypted_content, `signature of ${call.call_id}`);
    const body = { model, input: [question], stream: true };
    const { events } = await stream(service, responsesPath, key, body);
    const typed = (type: string) => events.filter((event) => event.type === type);
    const deltas = typed('response.reasoning_summary_text.delta').map(({ delta }) => delta);
    assert.equal(deltas.join(''), thoughts);
    const numbers = events.map(({ sequence_number: number }) => number);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    const done = typed('response.output_item.done').map(({ output_index, item: one }) => [
      output_index,
      one.type,
    ]);
    assert.deepEqual(done, [
      [0, 'reasoning'],
      [1, 'function_call'],
    ]);
    assert.equal(typed('response.output_item.done')[0].item.id, deltaIds(events)[0]);
  });

  test('others do not, and it is sent to the provider all the same', async () => {
    const { key: blind } = await service.key({ permissions: ['execute'] });
    for (const client of [chat, responses]) {
      const call = await client.ask(slugOf('anthropic'), true, blind);
      assert.doesNotMatch(JSON.stringify(call.sent), /look it up|signature/);
      assert.equal(await client.answer(slugOf('anthropic'), call, blind), answerText);
      assert.ok(JSON.stringify(lastRequest()).includes(thoughts));
    }
    for (const [path, body] of [
      [chatPath, { messages: [question] }],
      [responsesPath, { input: [question] }],
    ] as const) {
      const sent = { model: slugOf('anthropic'), stream: true, ...body };
      const { events } = await stream(service, path, blind, sent);
      assert.doesNotMatch(JSON.stringify(events), /look it up|signature|reasoning_content|"rs_/);
    }
  });

  test('no record shows what an earlier execution thought', async () => {
    const call = await native.ask(slugOf('anthropic'), false);
    const history = [
      question,
      ...call.sent,
      { role: 'tool', toolCallId: call.id, content: result },
    ];
    const record = await run(service, pathOf(slugOf('anthropic')), key, { history });
    assert.equal(record.status, 'success');
    assert.doesNotMatch(JSON.stringify(record), /look it up|signature/);
  });
});

const deltaIds = (events: readonly { type: string; item_id?: string }[]) =>
  events.flatMap(({ type, item_id: id }) => (type.endsWith('_text.delta') ? (id ?? []) : []));

describe('the message goes with the bodies of its record', () => {
  async function isSentBack(slug: string, call: Call, by = key): Promise<boolean> {
    assert.equal(await native.answer(slug, call, by), answerText);
    return JSON.stringify(lastRequest()).includes(thoughts);
  }

  test('an agent that stores no bodies keeps none', async () => {
    const agent = await thinkingAgent('anthropic', { storeBodies: false });
    const call = await native.ask(agent.slug, false);
    assert.equal(await isSentBack(agent.slug, call), false);
  });

  test('a deleted record has none', async () => {
    const { id } = await responses.ask(slugOf('anthropic'), false);
    const call = nativeAs(id);
    assert.equal(await isSentBack(slugOf('anthropic'), call), true);
    await sql`delete from executions where id = ${await executionWith(id)}`.execute(service.db);
    assert.equal(await isSentBack(slugOf('anthropic'), call), false);
  });

  function nativeAs(id: string): Call {
    const toolCalls = [{ id, name: toolName, arguments: city }];
    return { id, sent: [{ role: 'assistant', toolCalls }] };
  }

  /** The only execution whose answer has this call. */
  async function executionWith(callId: string): Promise<string> {
    const { rows } = await sql<{ id: string }>`
      select e.id from executions e join tool_call_executions t on t.execution_id = e.id
      where e.tool_calls -> 0 ->> 'id' = ${callId}`.execute(service.db);
    assert.equal(rows.length, 1);
    return rows[0]?.id ?? '';
  }

  /** Moves the only execution with this call into the past. */
  async function age(callId: string, days: number): Promise<void> {
    const id = await executionWith(callId);
    const { rows } = await sql<{ old: string }>`
      select id_floor(clock_timestamp() - ${days} * interval '24 hours') as old`.execute(
      service.db,
    );
    const old = rows[0]?.old;
    await sql`update executions set id = ${old} where id = ${id}`.execute(service.db);
    await sql`update tool_call_executions set execution_id = ${old} where execution_id = ${id}`.execute(
      service.db,
    );
  }

  test('the retention of bodies removes it', async () => {
    const agent = await thinkingAgent('anthropic');
    const call = await native.ask(agent.slug, false);
    await age(call.id, 10);
    assert.equal(await isSentBack(agent.slug, call), true);
    await sql`update agents set bodies_days = 1 where id = ${fromId('agent', agent.agentId)}`.execute(
      service.db,
    );
    await runRetentionRound(service.db, service.database);
    assert.equal(await isSentBack(agent.slug, call), false);
    const { rows } = await sql`
      select from executions where assistant_message is not null and agent_id = ${fromId('agent', agent.agentId)}`.execute(
      service.db,
    );
    assert.equal(rows.length, 0);
  });

  test('after thirty days nobody looks for it', async () => {
    const [older, newer] = [
      await native.ask(slugOf('anthropic'), false),
      await native.ask(slugOf('anthropic'), false),
    ];
    await age(older.id, 31);
    await age(newer.id, 29);
    await runRetentionRound(service.db, service.database);
    assert.equal(await isSentBack(slugOf('anthropic'), older), false);
    assert.equal(await isSentBack(slugOf('anthropic'), newer), true);
  });

  test('a record of a month that is removed has none', async () => {
    const call = await native.ask(slugOf('anthropic'), false);
    await age(call.id, 20);
    assert.equal(await isSentBack(slugOf('anthropic'), call), true);
    await sql`update history_floor set at = clock_timestamp() - interval '10 days'`.execute(
      service.db,
    );
    assert.equal(await isSentBack(slugOf('anthropic'), call), false);
    await sql`update history_floor set at = 'epoch'`.execute(service.db);
  });

  test('an erasure removes it', async () => {
    const agent = await thinkingAgent('anthropic');
    const body = { variables: { history: [question] }, user: 'jane' };
    const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
    const { toolCalls } = await ended(service, accepted.body.statusUrl, key);
    const call = nativeAs(toolCalls[0].id);
    assert.equal(await isSentBack(agent.slug, call), true);
    const erasure = await service.call('POST', '/api/v1/erasures', { key, body: { user: 'jane' } });
    assert.equal(erasure.status, 202, JSON.stringify(erasure.body));
    await runRetentionRound(service.db, service.database);
    assert.equal(await isSentBack(agent.slug, call), false);
  });

  test('another call with the same id finds nothing', async () => {
    const { id } = await native.ask(slugOf('anthropic'), false);
    const toolCalls = [{ id, name: toolName, arguments: { city: 'Rome' } }];
    const other = { id, sent: [{ role: 'assistant', toolCalls }] };
    assert.equal(await isSentBack(slugOf('anthropic'), other), false);
  });

  test('an agent finds those of another agent if the same user called it', async () => {
    const agent = await thinkingAgent('anthropic');
    const call = await native.ask(slugOf('anthropic'), false);
    assert.equal(await isSentBack(agent.slug, call), true);
    const { key: others } = await service.key({ userId: await service.member('editor') });
    assert.equal(await isSentBack(agent.slug, call, others), false);
    assert.equal(await isSentBack(slugOf('anthropic'), call, others), true);
  });

  test('no workspace finds that of another one', async () => {
    const call = await native.ask(slugOf('anthropic'), false);
    const { workspaceId } = await service.workspace();
    const move = (from: string, to: string) =>
      sql`update executions set workspace_id = ${to} where workspace_id = ${from}`.execute(
        service.db,
      );
    await move(service.workspaceId, workspaceId);
    assert.equal(await isSentBack(slugOf('anthropic'), call), false);
    await move(workspaceId, service.workspaceId);
    assert.equal(await isSentBack(slugOf('anthropic'), call), true);
  });

  test('an execution of an earlier version has none', async () => {
    const call = await native.ask(slugOf('anthropic'), false);
    const agentId = fromId('agent', agents.get('anthropic')?.agentId ?? '');
    await sql`update executions set assistant_message = null where agent_id = ${agentId}`.execute(
      service.db,
    );
    assert.equal(await isSentBack(slugOf('anthropic'), call), false);
  });
});

describe('the message is that of the same conversation', () => {
  type Said = readonly object[];
  const asked = (content: string) => [{ role: 'user', content }];
  const turnOf = (id: string, content = '', args: object | string = city) => [
    { role: 'assistant', content, toolCalls: [{ id, name: toolName, arguments: args }] },
    { role: 'tool', toolCallId: id, content: result },
  ];

  async function callIn(slug: string, history: Said, more: object = {}): Promise<string> {
    const record = await run(service, pathOf(slug), key, { history, ...more });
    assert.equal(record.status, 'success', JSON.stringify(record));
    return record.toolCalls[0].id;
  }

  /** How many messages of the conversation are sent with reasoning. */
  async function sentBack(slug: string, history: Said, more: object = {}): Promise<number> {
    const record = await run(service, pathOf(slug), key, { history, ...more });
    assert.equal(record.status, 'success', JSON.stringify(record));
    return JSON.stringify(lastRequest().messages).split(thoughts).length - 1;
  }

  test('two users whose calls have the same id each get their own', async () => {
    const { slug } = await thinkingAgent('deepseek');
    const [one, other] = [asked('The profile of Ann?'), asked('The profile of Bob?')];
    repeatedId = 'functions.look_up:0';
    const id = await callIn(slug, one);
    assert.equal(await callIn(slug, other), id);
    repeatedId = null;
    const both = [one, other].map((said) => [...said, ...turnOf(id)]);
    for (const said of both) assert.equal(await sentBack(slug, said), 1);
    await sql`delete from executions where input_variables::text like '%of Bob%'`.execute(
      service.db,
    );
    assert.deepEqual(
      [await sentBack(slug, both[0] ?? []), await sentBack(slug, both[1] ?? [])],
      [1, 0],
    );
  });

  test('the newest of equal conversations is found, among twenty', async () => {
    const { slug } = await thinkingAgent('deepseek');
    const said = asked('One of many?');
    const history = [...said, ...turnOf(await callIn(slug, said))];
    const { rows } = await sql<{ digest: string }>`
      select digest from tool_call_executions order by execution_id desc limit 1`.execute(
      service.db,
    );
    /** Newer ones, of executions that are gone. */
    const add = (from: number, to: number) =>
      sql`
        insert into tool_call_executions (execution_id, digest, chars)
        select ('ffffffff-ffff-7fff-8fff-' || lpad(n::text, 12, '0'))::uuid, ${rows[0]?.digest}::uuid, 1
        from generate_series(${from}::int, ${to}::int) as n`.execute(service.db);
    await add(1, 19);
    assert.equal(await sentBack(slug, history), 1);
    await add(20, 20);
    assert.equal(await sentBack(slug, history), 0);
  });

  test('what was said before, the text and the texts of the system are the same', async () => {
    const variables = { optionalVariables: ['history', 'customer'] };
    const messages = [
      { role: 'system', content: 'You help {{customer}}.' },
      { placeholder: 'history' },
    ];
    const { slug } = await thinkingAgent('deepseek', { ...variables, messages });
    const ann = { customer: 'Ann' };
    const said = asked('My profile?');
    const id = await callIn(slug, said, ann);
    const given = JSON.stringify(city, null, 2);
    assert.equal(await sentBack(slug, [...said, ...turnOf(id)], ann), 1);
    assert.equal(await sentBack(slug, [...said, ...turnOf(id, ' \n', given)], ann), 1);
    assert.equal(await sentBack(slug, [...said, ...turnOf(id)], { customer: 'Bob' }), 0);
    assert.equal(await sentBack(slug, [...said, ...turnOf(id, 'Let me see.')], ann), 0);
    assert.equal(await sentBack(slug, [...asked('Hi'), ...said, ...turnOf(id)], ann), 0);
    assert.equal(await sentBack(slug, turnOf(id), ann), 0);
  });

  test('it wins over signed reasoning that the client sends itself', async () => {
    const model = slugOf('anthropic');
    const first = await responses.ask(model, true);
    const signed = first.sent.map((item) =>
      item.type === 'reasoning' ? { ...item, encrypted_content: 'of another provider' } : item,
    );
    assert.equal(await responses.answer(model, { ...first, sent: signed }), answerText);
    const text = JSON.stringify(lastRequest());
    assert.ok(text.includes(`"signature of ${first.id}"`), text);
    assert.doesNotMatch(text, /of another provider/);
  });
});
