import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import Fastify from 'fastify';
import { sql } from 'kysely';
import { createTestDatabase } from '../harness/database.ts';
import { startFakeProvider } from '../harness/fake-provider.ts';
import { openUnsealed, unsealed } from '../harness/setups.ts';
import { toId, uuid7 } from '../src/core/id.ts';
import { ModelFailure } from '../src/core/model/model-port.ts';
import { generateKey } from '../src/core/people/key.ts';
import { createLogger, executionLog, repeatedWarnings } from '../src/log.ts';
import { createModels } from '../src/provider/registry.ts';
import { openDatabase } from '../src/store/connection/database.ts';

const lines: string[] = [];
const log = createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) } });
// biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it likes
const logged = (): any[] => lines.splice(0).map((line) => JSON.parse(line));
beforeEach(() => {
  lines.length = 0;
});

const database = await createTestDatabase();
const db = openDatabase({ connection: database.connection, poolMax: 1, onError() {} });
after(async () => {
  await db.destroy();
  await database.drop();
});

test('nothing that a line names as secret is in it, however deep', () => {
  const names = [
    'authorization',
    'cookie',
    'set-cookie',
    'Set-Cookie',
    'password',
    'apiKey',
    'key',
  ];
  names.push('token', 'secret', 'clientSecret', 'variables', 'inputVariables', 'prompt');
  names.push('systemPrompt', 'prompts', 'output', 'body', 'idempotency-key', 'credentials');
  for (const name of names) {
    const secret = { [name]: 'canary', nested: [{ headers: { [name]: { more: ['canary'] } } }] };
    log.info(secret, 'said');
  }
  assert.doesNotMatch(lines.join(''), /canary/);
  assert.equal(logged().length, names.length);
});

test('what looks like a secret is in no text', () => {
  const key = generateKey();
  log.info(`Bearer ${key} came`);
  log.warn({ url: `postgres://user:canary@db/x?token=canary`, key2: [key] }, 'as %s', key);
  log.error(new Error(`no way with ${key}`));
  assert.ok(!lines.join('').includes(key) && !/canary/.test(lines.join('')), lines.join(''));
  assert.deepEqual(
    logged().map(({ level, msg }) => [level, msg]),
    [
      ['info', 'Bearer [redacted] came'],
      ['warn', 'as [redacted]'],
      ['error', 'no way with [redacted]'],
    ],
  );
});

test('useful fields stay', () => {
  const fields = {
    requestId: 'req_1',
    keyId: 'key_1',
    inputTokens: 5,
    port: 4000,
    ok: true,
    no: null,
  };
  log.info({ ...fields, list: [1, 'two'] }, 'up');
  const [{ time, ...line }] = logged();
  assert.deepEqual(line, { level: 'info', ...fields, list: [1, 'two'], msg: 'up' });
  assert.ok(!Number.isNaN(Date.parse(time)));
});

test('what holds more than a line should is only named', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  log.info({ socket: new (class Socket {})(), at: Buffer.from('canary'), loop }, 'named');
  const [{ socket, at, loop: cut }] = logged();
  assert.deepEqual([socket, at], ['[Socket]', '[Buffer]']);
  assert.match(JSON.stringify(cut), /\[deeper\]/);
});

test('a database error keeps where it was and loses what it quotes', async () => {
  const faults = [
    sql`select ${'canary'}::int`,
    sql`select ${'{"canary'}::json`,
    sql`insert into users (id, name, email) values (${uuid7(0)}, 'a', 'canary'), (${uuid7(1)}, 'b', 'canary')`,
    sql`insert into users (id, name, email) values (${uuid7(0)}, 'canary', 'X')`,
    sql`do $$ begin raise exception using message = 'plain', detail = 'canary', hint = 'canary'; end $$`,
  ];
  for (const fault of faults) {
    const error = await fault.execute(db).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Error);
    assert.match(JSON.stringify({ ...error, message: error.message }), /canary/);
    log.error({ err: error, requestId: 'req_1' }, 'fault');
  }
  assert.doesNotMatch(lines.join(''), /canary/);
  const seen = logged();
  assert.ok(seen.every(({ err }) => err.type === 'error'));
  assert.deepEqual(
    seen.map(({ err }) => err.code),
    ['22P02', '22P02', '23505', '23514', 'P0001'],
  );
  assert.equal(seen[2].err.table, 'users');
  assert.match(seen[2].err.message, /^duplicate key value violates unique constraint/);
  assert.ok(seen.every(({ err }) => err.stack.every((line: string) => line.startsWith('at '))));
});

test('an error keeps its cause and loses what a library hung on it', () => {
  const inner = Object.assign(new SyntaxError('Unexpected token, "canary" is not valid JSON'), {
    requestBodyValues: 'canary',
  });
  const outer = new Error('outer\n    at canary', { cause: inner });
  // The stack still begins with what the message was.
  log.error(Object.assign(outer, { message: 'outer', data: 'canary' }));
  log.error({ err: new AggregateError([new Error('refused'), new Error('unreachable')]) }, 'away');
  assert.doesNotMatch(lines.join(''), /canary/);
  const [first, second] = logged();
  assert.deepEqual([first.err.type, first.err.message], ['Error', 'outer']);
  assert.equal(first.err.cause.type, 'SyntaxError');
  assert.ok(first.err.stack.length > 0);
  assert.deepEqual(
    second.err.cause.map(({ message }: Error) => message),
    ['refused', 'unreachable'],
  );
});

test('a request whose fault is logged shows nothing of itself', async (t) => {
  const key = generateKey();
  const app = Fastify({ loggerInstance: log, genReqId: () => 'req_9' });
  t.after(() => app.close());
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error, requestId: request.id }, 'fault');
    reply.code(500).send({});
  });
  app.post('/boom', async (request) => {
    request.log.info({ req: request, headers: request.headers, body: request.body }, 'seen');
    await sql`select ${JSON.stringify(request.body)}::int`.execute(db);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  logged();
  const { port } = app.server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/boom?token=canary-query`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      cookie: 'session=canary-cookie',
      'idempotency-key': 'canary-idempotency',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ variables: { name: 'canary-variable' } }),
  });
  const text = lines.join('');
  assert.ok(!text.includes(key));
  assert.doesNotMatch(text, /canary-(cookie|idempotency|variable)/);
  const fault = logged().find(({ msg }) => msg === 'fault');
  assert.equal(fault.requestId, 'req_9');
});

test('of a run its ids, its end and its code are told, at info where it failed', async (t) => {
  const provider = await startFakeProvider();
  const models = createModels({
    open: openUnsealed,
    env: {},
    allowedHosts: [provider.host],
  });
  t.after(async () => {
    await models.close();
    await provider.close();
  });
  provider.script({ status: 401, body: { error: { message: 'canary-error canary-api-key' } } });
  const id = uuid7(0);
  const run = { id, agentId: uuid7(0), attempts: 1, latencyMs: 20 };
  const baseURL = provider.url;
  const stored = unsealed({ kind: 'openai-compatible', apiKey: 'canary-api-key', baseURL });
  const failure = await models
    .call({
      ...{ executionId: id, workspaceId: uuid7(0), model: 'fake/model', timeoutMs: 10_000 },
      ...{ system: 'canary-system', user: 'canary-user', temperature: null, maxTokens: null },
      ...{ topP: null, called: false, signal: new AbortController().signal },
      setup: { provider: stored, price: null },
    })
    .catch((error: unknown) => error);
  assert.ok(failure instanceof ModelFailure);
  assert.match(failure.message, /canary-error/);

  const runs = executionLog(log);
  runs.fault(failure, run);
  const all = {
    ...run,
    error: failure.message,
    userPrompt: 'canary-user',
    output: 'canary-output',
  };
  runs.ended({ ...all, status: 'failed', errorCode: failure.code });
  runs.ended({ ...all, status: 'success', errorCode: null });
  assert.doesNotMatch(lines.join(''), /canary/);
  const ids = { executionId: toId('execution', id), agentId: toId('agent', run.agentId) };
  const [fault, failed, success] = logged().map(({ time, err, ...line }) => line);
  assert.deepEqual(fault, { level: 'error', ...ids, msg: 'fault' });
  const ended = { ...ids, attempts: 1, latencyMs: 20, msg: 'ended' };
  const code = { status: 'failed', errorCode: 'PROVIDER_AUTH' };
  assert.deepEqual(failed, { level: 'info', ...ended, ...code });
  assert.deepEqual(success, { level: 'debug', ...ended, status: 'success' });
});

test('a run of a workflow says how it ended, and nothing of what it held', () => {
  const [runId, workflowId] = [uuid7(1), uuid7(2)];
  const runs = executionLog(log);
  const how = { status: 'failed', errorCode: 'STEP_FAILED', failedStep: 'a' } as const;
  runs.workflowRunEnded({ runId, workflowId, end: { ...how, error: 'canary' } });
  runs.workflowRunEnded({ runId, workflowId, end: { status: 'success', output: '"canary"' } });
  assert.doesNotMatch(lines.join(''), /canary/);
  const named = {
    workflowRunId: toId('workflowRun', runId),
    workflowId: toId('workflow', workflowId),
    msg: 'run ended',
  };
  assert.deepEqual(
    logged().map(({ time, ...line }) => line),
    [
      { level: 'info', ...named, ...how },
      { level: 'debug', ...named, status: 'success' },
    ],
  );
});

test('below its level nothing is written', () => {
  const quiet = createLogger({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  quiet.info('no');
  executionLog(quiet).ended({
    ...{ id: uuid7(0), agentId: uuid7(0), attempts: 1, latencyMs: 1 },
    ...{ status: 'failed', errorCode: 'INTERNAL' },
  });
  quiet.warn('yes');
  assert.deepEqual(
    logged().map(({ msg }) => msg),
    ['yes'],
  );
});

test('a complaint is made at first and then every half minute, whatever else is complained of', () => {
  let now = 0;
  const complain = complaints(log, () => now);
  const away = (port: number) =>
    Object.assign(new Error(`connect ECONNREFUSED ::1:${port}`), { code: 'ECONNREFUSED' });
  for (; now < 60_000; now += 1_000) {
    complain(away(now), 'claim failed');
    if (now === 5_000) {
      complain(new Error('one'), 'claim failed');
      complain(new Error('two'), 'claim failed');
      complain(away(now), 'heartbeat failed');
    }
  }
  assert.deepEqual(
    logged().map(({ msg, err, unsaid }) => [msg, err.code ?? err.message, unsaid]),
    [
      ['claim failed', 'ECONNREFUSED', undefined],
      ['claim failed', 'one', undefined],
      ['claim failed', 'two', undefined],
      ['heartbeat failed', 'ECONNREFUSED', undefined],
      ['claim failed', 'ECONNREFUSED', 29],
    ],
  );
  now += 3_600_000;
  complain(away(1), 'claim failed');
  assert.equal(logged()[0].unsaid, undefined, 'what was left unsaid of a failure that is over');
  complain(undefined, 'thrown, though it is nothing');
  assert.equal(logged()[0].msg, 'thrown, though it is nothing');
});
