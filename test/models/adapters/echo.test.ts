import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '../../../src/core/agent/messages.ts';
import { type ModelEvent, ModelFailure } from '../../../src/core/model/model-port.ts';
import { echo } from '../../../src/models/adapters/echo.ts';

const never = new AbortController().signal;
async function ask(model: string, user = 'hello', system: string | null = null, signal = never) {
  const texts: string[] = [];
  const emit = (event: ModelEvent) => event.type === 'text' && texts.push(event.text);
  const response = await echo(model, { system, user }, signal, emit);
  return { text: texts.join(''), ...response };
}

test('returns the user prompt with token counts, at no cost', async () => {
  assert.deepEqual(await ask('echo', 'hello', 'Be brief.'), {
    text: 'hello',
    usage: { inputTokens: 4, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finishReason: 'stop',
    cost: { usd: '0', known: true, source: 'table' },
  });
});

describe('a token is four bytes, rounded up', () => {
  const cases: [string, string | null, number, number][] = [
    ['', null, 0, 0],
    ['', '', 0, 0],
    ['abcd', null, 1, 1],
    ['abcde', null, 2, 2],
    ['ab', 'cd', 1, 1],
    ['🙂', null, 1, 1],
    ['äöü', null, 2, 2],
  ];
  for (const [user, system, inputs, outputs] of cases) {
    test(`'${user}' after '${system}': ${inputs} in, ${outputs} out`, async () => {
      const { usage } = await ask('echo', user, system);
      assert.deepEqual([usage.inputTokens, usage.outputTokens], [inputs, outputs]);
    });
  }
});

describe('query parameters', () => {
  for (const model of ['echo?', 'echo?delay=0', 'echo?delay=1', 'echo?tokens=2&delay=1']) {
    test(model, async () => assert.equal((await ask(model)).text, 'hello'));
  }

  for (const tokens of [0, 40, 1_000_000_000]) {
    test(`tokens=${tokens}`, async () => {
      const { usage, text } = await ask(`echo?tokens=${tokens}`);
      assert.deepEqual([usage.outputTokens, usage.inputTokens, text], [tokens, 2, 'hello']);
    });
  }

  const failures = ['MODEL_TIMEOUT', 'MODEL_NOT_FOUND', 'PROVIDER_NOT_CONFIGURED', 'PROVIDER_AUTH'];
  const limits = ['PROVIDER_RATE_LIMITED', 'PROVIDER_QUOTA', 'CONTEXT_LENGTH'];
  for (const code of [...failures, ...limits, 'PROVIDER_ERROR']) {
    test(`fail=${code}`, () => assert.rejects(ask(`echo?fail=${code}&tokens=4&delay=1`), { code }));
  }
});

describe('invalid models are rejected with a reason', () => {
  const cases = [
    ['parrot', 'only cueline/echo'],
    ['', 'only cueline/echo'],
    ['echo/x', 'only cueline/echo'],
    ['echo?speed=1', 'not speed'],
    ['echo?delay', 'from 0 to 3600000'],
    ['echo?delay=', 'from 0 to 3600000'],
    ['echo?delay=-1', 'from 0 to 3600000'],
    ['echo?delay=1.5', 'from 0 to 3600000'],
    ['echo?delay=1e3', 'from 0 to 3600000'],
    ['echo?delay=3600001', 'from 0 to 3600000'],
    ['echo?tokens=1000000001', 'from 0 to 1000000000'],
    ['echo?tokens=99999999999', 'from 0 to 1000000000'],
    ['echo?fail=', 'fail is one of MODEL_TIMEOUT'],
    ['echo?fail=INTERNAL', 'fail is one of'],
    ['echo?fail=WORKER_LOST', 'fail is one of'],
    ['echo?fail=provider_error', 'fail is one of'],
    ['echo?delay=1&delay=2', 'given twice'],
    ['echo?delay=1?tokens=2', 'from 0 to 3600000'],
    ['echo?tools=', 'NAME:{…}'],
    ['echo?tools=find', 'NAME:{…}'],
    ['echo?tools=find:', 'NAME:{…}'],
    ['echo?tools=find:[]', 'NAME:{…}'],
    ['echo?tools=find:"{}"', 'NAME:{…}'],
    ['echo?tools=find:{"a":1', 'NAME:{…}'],
    ['echo?tools=find:{a:1}', 'NAME:{…}'],
    ['echo?tools=find:{}x', 'NAME:{…}'],
    ['echo?tools=find:{},', 'NAME:{…}'],
    ['echo?tools=,find:{}', 'NAME:{…}'],
    ['echo?tools=a.b:{}', 'NAME:{…}'],
    ['echo?tools=find:{"a":"b&c"}', 'percent-encoded'],
    [`echo?tools=${'n'.repeat(65)}:{}`, 'NAME:{…}'],
  ] as const;
  for (const [model, why] of cases) {
    test(model, async () => {
      const error = await ask(model).catch((thrown) => thrown);
      assert.ok(error instanceof ModelFailure);
      assert.equal(error.code, 'MODEL_NOT_FOUND');
      assert.ok(error.message.includes(why), error.message);
    });
  }
});

describe('calls of tools', () => {
  const tools = [{ name: 'find' }];
  const question: Message = { role: 'user', content: 'Where is it?' };
  type Calls = readonly { name: string; arguments: unknown }[];

  async function turn(query: string, messages: readonly Message[], offered?: object) {
    const texts: string[] = [];
    const emit = (event: ModelEvent) => event.type === 'text' && texts.push(event.text);
    const call = { system: null, user: 'Where is it?', messages, tools, ...offered };
    const answer = await echo(`echo?${query}`, call, never, emit);
    return { text: texts.join(''), ...answer };
  }

  /** The messages after each call had a result. */
  async function answered(query: string, messages: readonly Message[]): Promise<Message[]> {
    const { toolCalls = [] } = await turn(query, messages);
    const results = toolCalls.map(({ id }) => ({ role: 'tool', toolCallId: id, content: '7' }));
    return [...messages, { role: 'assistant', content: '', toolCalls }, ...results] as Message[];
  }

  const readable: [string, Calls][] = [
    ['tools=find:{}', [{ name: 'find', arguments: {} }]],
    [
      'tools=find:{"a":{"b":[1,"},x:{"]}}',
      [{ name: 'find', arguments: { a: { b: [1, '},x:{'] } } }],
    ],
    ['tools=find:{"q":"why?"}', [{ name: 'find', arguments: { q: 'why?' } }]],
    ['tools=find:{"q":"a%20b%26c%2B"}', [{ name: 'find', arguments: { q: 'a b&c+' } }]],
    [
      'tools=find:{"a":1},not_offered-1:{},find:{"a":2}',
      [
        { name: 'find', arguments: { a: 1 } },
        { name: 'not_offered-1', arguments: {} },
        { name: 'find', arguments: { a: 2 } },
      ],
    ],
  ];
  for (const [query, calls] of readable) {
    test(query, async () => {
      const { text, finishReason, toolCalls = [] } = await turn(query, [question]);
      assert.deepEqual([text, finishReason], ['', 'tool-calls']);
      assert.deepEqual(
        toolCalls,
        calls.map((call, index) => ({ id: `call_${index + 1}`, ...call })),
      );
    });
  }

  test('each turn has its own, and the answer follows the results', async () => {
    const query = 'tools=find:{},find:{"a":1}&tools=find:{"a":2}';
    const first = await answered(query, [question]);
    const { toolCalls } = await turn(query, first);
    assert.deepEqual(toolCalls, [{ id: 'call_3', name: 'find', arguments: { a: 2 } }]);
    const end = await turn(query, await answered(query, first));
    assert.deepEqual(
      [end.text, end.finishReason, end.toolCalls],
      ['Where is it?', 'stop', undefined],
    );
  });

  test('a further question begins at the first turn, with ids of its own', async () => {
    const query = 'tools=find:{}';
    const earlier = await answered(query, [question]);
    const answer: Message = { role: 'assistant', content: 'There.' };
    const { toolCalls } = await turn(query, [...earlier, answer, question]);
    assert.deepEqual(toolCalls, [{ id: 'call_2', name: 'find', arguments: {} }]);
  });

  const withoutTools = [{ tools: undefined }, { tools: [] }, { toolChoice: 'none' }];
  for (const offered of withoutTools) {
    test(`none with ${JSON.stringify(offered)}`, async () => {
      const { text, toolCalls } = await turn('tools=find:{}', [question], offered);
      assert.deepEqual([text, toolCalls], ['Where is it?', undefined]);
    });
  }

  test('counts the calls as output, and tokens and failures as without tools', async () => {
    const { usage } = await turn('tools=find:{}', [question]);
    assert.ok(usage.outputTokens > 0);
    const { usage: set } = await turn('tools=find:{}&tokens=9', [question]);
    assert.equal(set.outputTokens, 9);
    const failing = turn('tools=find:{}&fail=PROVIDER_ERROR', [question]);
    await assert.rejects(failing, { code: 'PROVIDER_ERROR' });
  });
});

test('an abort ends the delay', async () => {
  const controller = new AbortController();
  const waiting = ask('echo?delay=3600000', 'x', null, controller.signal);
  controller.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});

test('a stream has up to twenty pieces of whole characters', async () => {
  const pieces = async (user: string) => {
    const texts: string[] = [];
    const emit = (event: ModelEvent) => event.type === 'text' && texts.push(event.text);
    await echo('echo?delay=1', { system: null, user, stream: true }, never, emit);
    return texts;
  };
  const alphabet = 'abcdefghijklmnopqrstuvwxyz';
  const many = await pieces(alphabet);
  assert.deepEqual([many.length, many.join('')], [13, alphabet]);
  assert.deepEqual(await pieces('\u{1f642}\u{1f643}'), ['\u{1f642}', '\u{1f643}']);
  assert.deepEqual(await pieces(''), []);
});
