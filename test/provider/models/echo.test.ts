import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
    ['echo?delay=1?tokens=2', 'one question mark'],
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
