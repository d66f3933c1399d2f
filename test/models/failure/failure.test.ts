import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ExecutionErrorCode, withoutProviderText } from '../../../src/core/failure.ts';
import { ModelFailure, noUsage, unknownCost } from '../../../src/core/model/model-port.ts';
import { endedInError, toFailure } from '../../../src/models/failure/model-failure.ts';
import { OutboundFailure } from '../../../src/net/outbound-failure.ts';
import { errorBytesMax } from '../../../src/net/response-limits.ts';
import { providerErrors } from '../provider-errors.ts';

const error = (message: string, code: string | null = null) => ({ error: { message, code } });

describe('a response', () => {
  for (const { name, status, code, retryable, text, body } of providerErrors) {
    test(`${name}: ${status} is ${code}`, () => {
      const failure = toFailure(answered(status, body), [], 0);
      assert.equal(failure.code, code);
      assert.equal(failure.retryable, retryable);
      assert.ok(failure.message.includes(text), failure.message);
      assert.equal(failure.retryAfterMs, name === 'TGI: loading' ? 20_000 : 0);
      const waits = code === 'PROVIDER_RATE_LIMITED' || /loading/i.test(text);
      assert.equal(failure.rejected, retryable && waits);
      // Errors cost nothing; the cost of an unreadable response is unknown.
      const isGateway = /answered 50[24]/.test(failure.message);
      const isRead = status !== 200 || /answered/.test(failure.message);
      assert.equal(failure.cost.known, isRead && !isGateway);
    });
  }

  test('a 404 that does not speak of the model is about the path', () => {
    for (const body of [
      '',
      '404 page not found',
      '<html><h1>Not Found</h1> of the model</html>',
      { detail: 'Not Found' },
      { error: { message: 'Invalid URL (POST /chat/completions)', type: 'invalid_request_error' } },
      { error: 'Cannot POST /models/x:generateContent' },
      { error: { code: '404', message: 'Resource not found' } },
      { type: 'error', error: { type: 'not_found_error', message: 'Not Found' } },
    ]) {
      const failure = toFailure(answered(404, body), [], 0);
      assert.deepEqual([failure.code, failure.retryable], ['PROVIDER_ERROR', false]);
      assert.match(failure.message, /Is the base URL right\?$/);
      assert.equal(withoutProviderText(failure.message), failure.message);
    }
    for (const message of ['No endpoints found for a/b.', 'model: x', 'models/x is not found']) {
      assert.equal(toFailure(answered(404, { error: { message } }), [], 0).code, 'MODEL_NOT_FOUND');
    }
  });

  test('keeps no provider text if bodies are not stored', () => {
    for (const { status, body } of providerErrors) {
      const { message } = toFailure(answered(status, body), [], 0);
      const stripped = withoutProviderText(`Item 3: ${message}`);
      assert.match(stripped, /^Item 3: The provider('s response| answered).*[^:]*\.$/s);
      assert.doesNotMatch(stripped.slice(8), /:/);
    }
  });

  test('with status 200 is quoted only if it contains an error', () => {
    const half = '{"choices":[{"message":{"content":"a secret of the prompt';
    const odd = { message: 'a secret of the prompt', choices: 'none' };
    for (const body of [half, odd, '<html>a secret of the prompt']) {
      const failure = toFailure(answered(200, body), [], 0);
      assert.equal(failure.message, "The provider's response could not be read.");
      assert.deepEqual([failure.retryable, failure.cost], [false, unknownCost]);
    }
  });

  test('with status 200 has an unknown cost if it contains usage', () => {
    const failed = { error: { message: 'The server had an error.', code: 'server_error' } };
    const cost = (body: object) => toFailure(answered(200, body), [], 0).cost.known;
    assert.deepEqual(
      [cost(failed), cost({ ...failed, usage: { input_tokens: 1 } })],
      [true, false],
    );
  });

  test('is also parsed if the AI SDK has parsed it, with any status', () => {
    const read = (responseBody: object) => ({ statusCode: 400, responseBody });
    const limited = { error: { message: 'slow', type: 'x', code: 'rate_limit_exceeded' } };
    const failure = toFailure(read({ ...limited, output: [] }), [], 0);
    assert.equal(failure.code, 'PROVIDER_RATE_LIMITED');
    assert.equal(failure.message, 'The provider answered with an error: slow');
    assert.equal(toFailure(read({ error: null }), [], 0).unreadableField, 'body');
  });

  test('that ended in an error keeps its cost and its error', () => {
    const usage = { ...noUsage, inputTokens: 10 };
    const cost = { usd: '0.1', known: true };
    const failure = endedInError({ code: 403, message: 'Key topsecret99' }, ['topsecret99'], {
      ...{ usage, cost },
    });
    assert.equal(failure.code, 'PROVIDER_AUTH');
    assert.equal(failure.message, 'The provider answered 403: Key [redacted]');
    assert.deepEqual([failure.retryable, failure.usage, failure.cost], [false, usage, cost]);
    assert.equal(endedInError(null, [], { usage, cost }).retryable, true);
  });

  test('that counted tokens before its limit was no rejection', () => {
    const limited = { error: { message: 'Rate limit reached.', code: 'rate_limit_exceeded' } };
    const rejected = (body: object) => toFailure(answered(200, body), [], 0).rejected;
    assert.deepEqual(
      [rejected(limited), rejected({ ...limited, usage: { input_tokens: 1 } })],
      [true, false],
    );
  });

  test('is parsed to a limited depth', () => {
    const body = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    assert.equal(toFailure(answered(400, body), [], 0).code, 'PROVIDER_ERROR');
  });

  test('is not parsed above the size limit of an error', () => {
    const failure = (length: number) =>
      toFailure(answered(400, { ...error('too far'), more: 'x'.repeat(length) }), [], 0);
    assert.match(failure(1_000).message, /400: too far$/);
    assert.match(failure(errorBytesMax).message, /400: Bad Request$/);
  });

  test('is classified by the beginning of its message', () => {
    const phrase = 'violates our usage policy';
    const code = (text: string) => toFailure(answered(400, error(text)), [], 0).code;
    assert.equal(code(`${'x '.repeat(1_000)}${phrase}`), 'CONTENT_FILTERED');
    assert.equal(code(`${'x '.repeat(3_000)}${phrase}`), 'PROVIDER_ERROR');
  });

  test('returns Retry-After only if it is retryable', () => {
    const headers = { 'retry-after': '7' };
    const wait = (status: number, body: object) =>
      toFailure(answered(status, body, headers), [], 0).retryAfterMs;
    assert.equal(wait(429, error('slow down')), 7_000);
    assert.equal(wait(503, error('overloaded')), 7_000);
    assert.equal(wait(429, error('pay', 'insufficient_quota')), 0);
    assert.equal(wait(400, error('no')), 0);
  });

  test('is classified by a header of Bedrock', () => {
    const headers = { 'x-amzn-errortype': 'AccessDeniedException:http://internal.amazon.com/' };
    assert.equal(toFailure(answered(400, {}, headers), [], 0).code, 'PROVIDER_AUTH');
  });

  test('is redacted and truncated', () => {
    const text = `bad key topsecret99 at https://a:b@h/ ${'x'.repeat(9_000)}`;
    const { message } = toFailure(answered(400, error(text)), ['topsecret99'], 0);
    assert.match(message, /bad key \[redacted\] at https:\/\/\[redacted\]@h/);
    assert.equal(message.length, 2_000);
  });
});

describe('without a response', () => {
  const cases: [OutboundFailure['kind'], ExecutionErrorCode, boolean, boolean][] = [
    ['refused', 'PROVIDER_NOT_CONFIGURED', false, true],
    ['unreached', 'PROVIDER_ERROR', true, true],
    ['timeout', 'MODEL_TIMEOUT', true, false],
    ['broken', 'PROVIDER_ERROR', true, false],
    ['malformed', 'PROVIDER_ERROR', false, false],
  ];
  for (const [kind, code, retryable, costKnown] of cases) {
    test(kind, () => {
      const own = new OutboundFailure(kind, 'why, with sk-12345678');
      for (const thrown of [own, new Error('wrapped', { cause: new Error('', { cause: own }) })]) {
        const failure = toFailure(thrown, [], 0);
        assert.equal(failure.code, code);
        assert.equal(failure.retryable, retryable);
        assert.equal(failure.cost.known, costKnown);
        assert.equal(failure.unreached, kind === 'unreached');
        assert.equal(failure.message, 'why, with [redacted]');
      }
    });
  }

  test('a response of an unexpected shape is not requested again', () => {
    const odd = Object.assign(new Error('Value: hi'), { name: 'AI_TypeValidationError' });
    const failure = toFailure(odd, [], 0);
    assert.equal(failure.message, "The provider's response could not be read.");
    assert.deepEqual([failure.code, failure.retryable], ['PROVIDER_ERROR', false]);
    assert.deepEqual(failure.cost, unknownCost);
  });

  test('a request that could not be sent is not retryable', () => {
    for (const thrown of [
      new TypeError('invalid header'),
      'a text',
      new Error('x', { cause: 1 }),
    ]) {
      const failure = toFailure(thrown, [], 0);
      assert.deepEqual([failure.code, failure.retryable], ['PROVIDER_ERROR', false]);
    }
  });

  test('a failure is returned unchanged', () => {
    const failure = new ModelFailure('MODEL_TIMEOUT', 'late');
    assert.equal(toFailure(failure, [], 0), failure);
  });
});

/** An API error of the AI SDK. */
function answered(status: number, body: object | string, headers: Record<string, string> = {}) {
  return Object.assign(new Error('Bad Request'), {
    name: 'AI_APICallError',
    url: 'https://h.example/v1',
    statusCode: status,
    responseHeaders: headers,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

test('behind a gateway that gave up, the cost is unknown', () => {
  for (const [status, known] of [
    [502, false],
    [504, false],
    [524, false],
    [500, true],
    [503, true],
    [529, true],
  ] as const) {
    assert.equal(toFailure(answered(status, '<html>'), [], 0).cost.known, known, String(status));
  }
  const hidden = { error: { message: 'Provider returned error', code: 502 } };
  assert.equal(toFailure(answered(200, hidden), [], 0).cost.known, false);
  // Nothing was worked on yet.
  const loading = toFailure(answered(502, { error: 'Model m is currently loading' }), [], 0);
  assert.deepEqual([loading.rejected, loading.cost.known], [true, true]);
});
