import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import Fastify from 'fastify';
import { openTestDatabase } from '../harness/database.ts';
import { startFakeProvider } from '../harness/fake-provider.ts';
import { openUnsealed, unsealed } from '../harness/setups.ts';
import { toId, uuid7 } from '../src/core/id.ts';
import { collectResponse } from '../src/core/model/model-events.ts';
import { ModelFailure } from '../src/core/model/model-port.ts';
import { generateKey } from '../src/core/people/key.ts';
import { sql } from '../src/db/sql.ts';
import { createModels } from '../src/models/registry.ts';
import { createLogger, executionLog, repeatedWarnings } from '../src/process/log.ts';

const lines: string[] = [];
const log = createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) } });
// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary fields
const logged = (): any[] => lines.splice(0).map((line) => JSON.parse(line));
beforeEach(() => {
  lines.length = 0;
});

const { db, close } = await openTestDatabase(1);
after(close);

test('fields with secret names are redacted at any depth', () => {
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
    log.info(secret, 'message');
  }
  assert.doesNotMatch(lines.join(''), /canary/);
  assert.equal(logged().length, names.length);
});

test('values that look like secrets are redacted from texts', () => {
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

test('other fields are logged unchanged', () => {
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

test('large objects are logged by their type', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  log.info({ socket: new (class Socket {})(), at: Buffer.from('canary'), loop }, 'named');
  const [{ socket, at, loop: cut }] = logged();
  assert.deepEqual([socket, at], ['[Socket]', '[Buffer]']);
  assert.match(JSON.stringify(cut), /\[deeper\]/);
});

test('a database error keeps its location and loses quoted values', async () => {
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

test('an error keeps its cause and loses fields that a library added', () => {
  const inner = Object.assign(new SyntaxError('Unexpected token, "canary" is not valid JSON'), {
    requestBodyValues: 'canary',
  });
  const outer = new Error('outer\n    at canary', { cause: inner });
  // The stack still starts with the original message.
  log.error(Object.assign(outer, { message: 'outer', data: 'canary' }));
  log.error(
    { err: new AggregateError([new Error('refused'), new Error('unreachable')]) },
    'unavailable',
  );
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

test('a logged fault contains nothing of its request', async (t) => {
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

test('an ended execution is logged with ids, status and code, at info if it failed', async (t) => {
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
  const execution = { id, agentId: uuid7(0), attempts: 1, latencyMs: 20 };
  const baseURL = provider.url;
  const stored = unsealed({ kind: 'openai-compatible', apiKey: 'canary-api-key', baseURL });
  const failure = await collectResponse(models, {
    ...{ executionId: id, workspaceId: uuid7(0), model: 'fake/model', timeoutMs: 10_000 },
    ...{ system: 'canary-system', user: 'canary-user', temperature: null, maxTokens: null },
    ...{ topP: null, called: false, signal: new AbortController().signal },
    setup: { provider: stored, price: null },
  }).catch((error: unknown) => error);
  assert.ok(failure instanceof ModelFailure);
  assert.match(failure.message, /canary-error/);

  const executions = executionLog(log);
  executions.executionFaulted(failure, execution);
  executions.responseUnreadable('choices[0]', execution);
  const all = {
    ...execution,
    error: failure.message,
    userPrompt: 'canary-user',
    output: 'canary-output',
  };
  executions.executionEnded({ ...all, status: 'failed', errorCode: failure.code });
  executions.executionEnded({ ...all, status: 'success', errorCode: null });
  assert.doesNotMatch(lines.join(''), /canary/);
  const ids = { executionId: toId('execution', id), agentId: toId('agent', execution.agentId) };
  const [fault, unreadable, failed, success] = logged().map(({ time, err, ...line }) => line);
  assert.deepEqual(fault, { level: 'error', ...ids, msg: 'execution crashed' });
  const told = { level: 'warn', ...ids, field: 'choices[0]' };
  assert.deepEqual(unreadable, { ...told, msg: 'provider response unreadable' });
  const ended = { ...ids, attempts: 1, latencyMs: 20, msg: 'execution ended' };
  const code = { status: 'failed', errorCode: 'PROVIDER_AUTH' };
  assert.deepEqual(failed, { level: 'info', ...ended, ...code });
  assert.deepEqual(success, { level: 'debug', ...ended, status: 'success' });
});

test('an ended workflow run is logged without its content', () => {
  const [runId, workflowId] = [uuid7(1), uuid7(2)];
  const executions = executionLog(log);
  const failure = { status: 'failed', errorCode: 'STEP_FAILED', failedStep: 'a' } as const;
  executions.workflowRunEnded({ runId, workflowId, end: { ...failure, error: 'canary' } });
  executions.workflowRunEnded({
    runId,
    workflowId,
    end: { status: 'success', output: '"canary"' },
  });
  assert.doesNotMatch(lines.join(''), /canary/);
  const named = {
    workflowRunId: toId('workflowRun', runId),
    workflowId: toId('workflow', workflowId),
    msg: 'workflow run ended',
  };
  assert.deepEqual(
    logged().map(({ time, ...line }) => line),
    [
      { level: 'info', ...named, ...failure },
      { level: 'debug', ...named, status: 'success' },
    ],
  );
});

test('lines below the level are not written', () => {
  const quiet = createLogger({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  quiet.info('no');
  executionLog(quiet).executionEnded({
    ...{ id: uuid7(0), agentId: uuid7(0), attempts: 1, latencyMs: 1 },
    ...{ status: 'failed', errorCode: 'INTERNAL' },
  });
  quiet.warn('yes');
  assert.deepEqual(
    logged().map(({ msg }) => msg),
    ['yes'],
  );
});

test('a repeated warning is logged at first and then every 30 seconds, independent of other warnings', () => {
  let now = 0;
  const warn = repeatedWarnings(log, () => now);
  const refused = (port: number) =>
    Object.assign(new Error(`connect ECONNREFUSED ::1:${port}`), { code: 'ECONNREFUSED' });
  for (; now < 60_000; now += 1_000) {
    warn(refused(now), 'claim failed');
    if (now === 5_000) {
      warn(new Error('one'), 'claim failed');
      warn(new Error('two'), 'claim failed');
      warn(refused(now), 'heartbeat failed');
    }
  }
  assert.deepEqual(
    logged().map(({ msg, err, suppressed }) => [msg, err.code ?? err.message, suppressed]),
    [
      ['claim failed', 'ECONNREFUSED', undefined],
      ['claim failed', 'one', undefined],
      ['claim failed', 'two', undefined],
      ['heartbeat failed', 'ECONNREFUSED', undefined],
      ['claim failed', 'ECONNREFUSED', 29],
    ],
  );
  now += 3_600_000;
  warn(refused(1), 'claim failed');
  assert.equal(logged()[0].suppressed, undefined, 'the count belongs to an earlier outage');
  warn(undefined, 'thrown undefined');
  assert.equal(logged()[0].msg, 'thrown undefined');
});
