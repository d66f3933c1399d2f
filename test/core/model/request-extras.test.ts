import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findExtrasProblem,
  noExtras,
  type RequestExtras,
} from '../../../src/core/model/request-extras.ts';

const openai = { kind: 'openai', apiKey: 'sk-x' } as const;
const problemOf = (
  extras: Partial<RequestExtras>,
  provider: Parameters<typeof findExtrasProblem>[0] = openai,
) => findExtrasProblem(provider, { ...noExtras, ...extras });

test('names and values of headers are those that a request can carry', () => {
  for (const [headers, named] of [
    [{ 'x-a': 'b\r\nc: d' }, /"headers.x-a" must be printable ASCII/],
    [{ 'x-a': 'ü' }, /"headers.x-a"/],
    [{ 'x a': 'b' }, /"headers"/],
    [{ '': 'b' }, /"headers"/],
    [{ 'x-a': 'b', 'X-A': 'c' }, /"headers.X-A" occurs twice/],
  ] as const) {
    assert.match(problemOf({ headers }) ?? '', named);
  }
  assert.equal(problemOf({ headers: { 'x-a': 'b', 'X-B': 'c' } }), null);
});

test('a header that Cueline sets itself is not allowed', () => {
  for (const name of [
    ...['Host', 'content-length', 'Content-Type'],
    ...['Transfer-Encoding', 'Connection', 'Proxy-Authorization'],
  ]) {
    const problem = problemOf({ headers: { [name]: 'x' } }) ?? '';
    assert.ok(problem.startsWith(`Field "headers.${name}" is not allowed`), name);
  }
});

test('one header carries one credential', () => {
  const headers = { Authorization: 'Basic x' };
  assert.match(problemOf({ headers }) ?? '', /"headers.authorization" conflicts with "apiKey"/);
  assert.equal(problemOf({ headers }, { kind: 'openai', apiKey: null }), null);
  const azure = { kind: 'azure', apiKey: 'k' } as const;
  assert.match(problemOf({ headers: { 'API-Key': 'x' } }, azure) ?? '', /"headers.api-key" conf/);
});

test('query parameters have names; the body keeps the model and the prompt, and is not long', () => {
  assert.match(problemOf({ query: { '': 'x' } }) ?? '', /"query"/);
  for (const name of ['model', 'messages']) {
    assert.match(
      problemOf({ bodyExtra: { [name]: 'm' } }) ?? '',
      new RegExp(`"bodyExtra.${name}"`),
    );
  }
  assert.match(problemOf({ bodyExtra: { a: 'x'.repeat(16_377) } }) ?? '', /at most 16384/);
  assert.equal(problemOf({ bodyExtra: { a: 'x'.repeat(16_376) } }), null);
});
