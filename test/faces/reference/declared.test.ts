import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examples } from '../../../src/faces/reference/openapi-examples.ts';
import { assertDeclared } from './declared.ts';

const url = '/api/v1/agents/agt_x/execute';
const accepted = examples.executeAgent?.[202]?.accepted as object;
const limited = examples.executeAgent?.[429]?.limited as object;
const problem = {
  error: 'Not found',
  message: 'No such thing.',
  code: 'NOT_FOUND',
  requestId: 'r',
};
const windows = { ratelimit: '"key-minute";r=1;t=2', 'x-ratelimit-limit': '100' };

function answer(status: number, body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    url,
    status,
    headers: new Headers({ 'x-request-id': 'r', ...headers }),
    body,
  };
}

test('accepts declared responses', () => {
  assertDeclared(answer(202, accepted));
  assertDeclared(answer(404, problem));
  assertDeclared(answer(404, { ...problem, more: 1 }));
  assertDeclared(answer(429, limited, { 'retry-after': '24' }));
  assertDeclared(
    answer(401, { ...problem, code: 'UNAUTHORIZED' }, { 'www-authenticate': 'Bearer' }),
  );
  assertDeclared({ ...answer(204, null), method: 'DELETE', url: '/api/v1/agents/agt_x' });
  assertDeclared(answer(404, problem, windows));
});

test('rejects undeclared responses', () => {
  const wrong = [
    answer(200, accepted),
    answer(202, { ...accepted, extra: true }),
    answer(202, { ...accepted, status: 'success' }),
    answer(404, null),
    answer(404, { ...problem, code: 'NOPE' }),
    answer(429, limited),
    answer(429, limited, { 'retry-after': '0' }),
    answer(401, problem),
    { ...answer(404, problem), headers: new Headers() },
    { ...answer(204, {}), method: 'DELETE', url: '/api/v1/agents/agt_x' },
    { ...answer(404, problem, windows), url: '/api/v1/nothing' },
  ];
  for (const one of wrong) assert.throws(() => assertDeclared(one), JSON.stringify(one));
});

test('an unknown path is 404, a known one with another method 405', () => {
  assertDeclared({ ...answer(404, problem), url: '/api/v1/nothing' });
  const notAllowed = answer(405, { ...problem, code: 'METHOD_NOT_ALLOWED' }, { allow: 'POST' });
  assertDeclared({ ...notAllowed, method: 'PUT' });
  assert.throws(() => assertDeclared({ ...answer(404, problem), method: 'PUT' }));
});

test('an ended execution has its figures, one in progress has none', () => {
  const call = { ...answer(200, null), method: 'GET', url: '/api/v1/agents/a/executions/e?wait=1' };
  const { success, processing } = { ...examples.getExecution?.[200] } as Record<string, object>;
  assertDeclared({ ...call, body: success });
  assertDeclared({ ...call, body: processing });
  assert.throws(() => assertDeclared({ ...call, body: { ...success, latencyMs: undefined } }));
  assert.throws(() => assertDeclared({ ...call, body: { ...success, status: 'processing' } }));
});
