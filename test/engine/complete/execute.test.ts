import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { addAgent, ended, run, type TestAgent } from '../../../harness/agents.ts';
import { inlineCompute } from '../../../harness/inline-compute.ts';
import { scriptedModels } from '../../../harness/models.ts';
import { startService } from '../../../harness/service.ts';
import { emptySetup, prices } from '../../../harness/setups.ts';
import { calling, executedTool, scriptedTools, toolResult } from '../../../harness/tool-agents.ts';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import { JobTooLarge } from '../../../src/core/compute.ts';
import type { QueuedExecution } from '../../../src/core/execution/queued-execution.ts';
import { ModelDeferred, ModelFailure } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  type AttemptRun,
  type ExecuteDeps,
  executeAttempt,
} from '../../../src/engine/run/execute.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const permits = {
  prices,
  writeBound: () => assert.fail('it has no limit of cost'),
  reserve: () => assert.fail('it has no budget'),
};
const broken = (retryAfterMs = 0) =>
  new ModelFailure('PROVIDER_ERROR', 'It broke.', { retryAfterMs });
const rejected = (retryAfterMs: number) =>
  new ModelFailure('PROVIDER_RATE_LIMITED', 'Later.', { retryAfterMs, rejected: true });

async function execute(agent: TestAgent): Promise<string> {
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'x' } },
  });
  return body.statusUrl;
}

interface Delayed {
  readonly delayMs: number;
  readonly failures: number;
  readonly rejections: number;
}

/** Waits for the delayed execution of the agent in the queue, and returns its delay. */
async function delayed(agent: TestAgent): Promise<Delayed> {
  for (;;) {
    const { rows } = await sql<Delayed>`
      select (extract(epoch from available_at - clock_timestamp()) * 1000)::float8 as delay_ms, failures, rejections
      from execution_queue where agent_id = ${agent.id} and available_at is not null`.execute(
      service.db,
    );
    if (rows[0]) return rows[0];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function bringForward(agent: TestAgent): Promise<void> {
  await sql`update execution_queue set available_at = clock_timestamp() where agent_id = ${agent.id}`.execute(
    service.db,
  );
}

/** Null once it has ended. */
async function rejectionsOf(agent: TestAgent): Promise<number | null> {
  const { rows } = await sql<{ rejections: number }>`
    select rejections from execution_queue where agent_id = ${agent.id}`.execute(service.db);
  return rows[0]?.rejections ?? null;
}

/** Moves the start of work back by an hour. */
async function reachDeadline(agent: TestAgent): Promise<void> {
  await sql`
    update execution_queue set available_at = clock_timestamp(), started_at = started_at - interval '1 hour'
    where agent_id = ${agent.id}`.execute(service.db);
}

test('a failed call is retried up to maxAttempts', async () => {
  const agent = await addAgent(service);
  service.models.script(broken(), broken());
  const statusUrl = await execute(agent);
  await delayed(agent);
  await bringForward(agent);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(record.attempts, 3);
});

test('after the last attempt the execution fails with the last error', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 2 } });
  service.models.script(broken(), new ModelFailure('PROVIDER_RATE_LIMITED', 'Slow down.'));
  const record = await ended(service, await execute(agent), key);
  assert.equal(record.status, 'failed');
  assert.equal(record.errorCode, 'PROVIDER_RATE_LIMITED');
  assert.equal(record.attempts, 2);
});

test('an answer that is empty twice in a row is not retried again', async () => {
  const agent = await addAgent(service);
  const empty = () => new ModelFailure('EMPTY_OUTPUT', 'Empty.');
  service.models.script(empty(), empty());
  const statusUrl = await execute(agent);
  await delayed(agent);
  await bringForward(agent);
  const record = await ended(service, statusUrl, key);
  assert.deepEqual(
    [record.status, record.errorCode, record.attempts],
    ['failed', 'EMPTY_OUTPUT', 2],
  );
});

test('a failure that is not retryable is not retried', async () => {
  for (const code of [
    'PROVIDER_AUTH',
    'MODEL_NOT_FOUND',
    'CONTEXT_LENGTH',
    'CONTENT_FILTERED',
    'PROVIDER_NOT_CONFIGURED',
  ] as const) {
    const agent = await addAgent(service);
    service.models.script(new ModelFailure(code, 'No.'));
    const record = await ended(service, await execute(agent), key);
    assert.equal(record.errorCode, code);
    assert.equal(record.attempts, 1);
  }
});

test('a retry-after delay is respected, and the execution waits without a lease', async () => {
  const agent = await addAgent(service);
  service.models.script(
    new ModelFailure('PROVIDER_RATE_LIMITED', 'Later.', { retryAfterMs: 60_000 }),
  );
  const statusUrl = await execute(agent);
  const { delayMs, failures } = await delayed(agent);
  assert.ok(delayMs > 20_000 && failures === 1);
  const { rows } =
    await sql`select from execution_queue where agent_id = ${agent.id} and worker is not null`.execute(
      service.db,
    );
  assert.equal(rows.length, 0);
  await bringForward(agent);
  assert.equal((await ended(service, statusUrl, key)).status, 'success');
});

test('a rejected call consumes no attempt', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(rejected(60_000), rejected(60_000));
  const statusUrl = await execute(agent);
  for (const rejections of [1, 2]) {
    const waiting = await delayed(agent);
    assert.deepEqual([waiting.failures, waiting.rejections], [0, rejections]);
    await bringForward(agent);
    while ((await rejectionsOf(agent)) === rejections) await new Promise(setImmediate);
  }
  const record = await ended(service, statusUrl, key);
  assert.deepEqual([record.status, record.attempts, record.costKnown], ['success', 1, true]);
});

test('a backoff beyond the deadline does not end the execution', async () => {
  for (const failure of [rejected(60_000), broken(60_000)]) {
    const agent = await addAgent(service, { config: { timeoutMs: 30_000 } });
    service.models.script(failure);
    const statusUrl = await execute(agent);
    const { delayMs } = await delayed(agent);
    assert.ok(delayMs < 30_000);
    await bringForward(agent);
    assert.equal((await ended(service, statusUrl, key)).status, 'success');
  }
});

test('without time for another call the execution ends with its last failure', async () => {
  for (const failure of [rejected(60_000), broken(60_000)]) {
    const agent = await addAgent(service, { config: { timeoutMs: 1_000 } });
    service.models.script(failure);
    const record = await ended(service, await execute(agent), key);
    assert.deepEqual([record.errorCode, record.attempts], [failure.code, 1]);
  }
});

test('an open circuit breaker defers the execution without charge, and it is called later', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(async () => {
    throw new ModelDeferred(60_000, 'PROVIDER_ERROR');
  });
  const statusUrl = await execute(agent);
  const { delayMs, failures } = await delayed(agent);
  assert.ok(delayMs > 20_000 && failures === 0);
  await bringForward(agent);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(record.attempts, 1);
  assert.equal(record.costKnown, true);
});

test('a paused execution ends at its deadline with the code of the provider, without its text', async () => {
  const agent = await addAgent(service, { config: { timeoutMs: 30_000 } });
  service.models.script(async () => {
    throw new ModelDeferred(60_000, 'PROVIDER_RATE_LIMITED');
  });
  const statusUrl = await execute(agent);
  assert.ok((await delayed(agent)).delayMs < 30_000);
  await reachDeadline(agent);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.errorCode, 'PROVIDER_RATE_LIMITED');
  assert.match(record.error, /paused after failures/);
  assert.equal(record.attempts, 0);
});

test('an execution whose call was rejected ends at its deadline with that code', async () => {
  const agent = await addAgent(service, { config: { timeoutMs: 30_000 } });
  service.models.script(rejected(60_000));
  const statusUrl = await execute(agent);
  await delayed(agent);
  await reachDeadline(agent);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.errorCode, 'PROVIDER_RATE_LIMITED');
});

test('a provider at its concurrency limit consumes no timeout before the first call', async () => {
  const agent = await addAgent(service, { config: { timeoutMs: 30_000 } });
  const full = (afterMs: number) => async () => {
    throw new ModelDeferred(afterMs, 'MODEL_TIMEOUT', true);
  };
  service.models.script(full(20_000), full(60_000), broken(), full(60_000));
  const statusUrl = await execute(agent);
  await delayed(agent);
  const waiting = await service.call('GET', statusUrl, { key });
  assert.equal(waiting.body.status, 'processing');
  assert.equal(waiting.body.startedAt, undefined);
  await bringForward(agent);
  while ((await delayed(agent)).delayMs < 30_000) await new Promise(setImmediate);
  await bringForward(agent);
  while ((await delayed(agent)).failures === 0) await new Promise(setImmediate);
  await bringForward(agent);
  // The first call failed: from now on the timeout counts down.
  while ((await delayed(agent)).delayMs < 5_000) await new Promise(setImmediate);
  await reachDeadline(agent);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.errorCode, 'MODEL_TIMEOUT');
  assert.equal(record.attempts, 1);
});

test('the deadline aborts the call', async () => {
  const agent = await addAgent(service, { config: { timeoutMs: 1_000 } });
  const held = service.models.hold();
  const statusUrl = await execute(agent);
  const { signal } = await held.arrived;
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'failed');
  assert.equal(record.errorCode, 'MODEL_TIMEOUT');
  assert.ok(signal.aborted);
  assert.ok(record.latencyMs >= 1_000);
});

test('a prompt beyond the length limit is never rendered', async () => {
  const agent = await addAgent(service, { user: '{{name}}'.repeat(1_000) });
  const record = await run(service, agent, key, { name: 'x'.repeat(10_000) });
  assert.equal(record.errorCode, 'CONTEXT_LENGTH');
  assert.equal(service.models.calls.filter(({ user }) => user.length > 4_194_304).length, 0);
});

test('text with characters that PostgreSQL cannot store is stored without them', async () => {
  const agent = await addAgent(service);
  service.models.script({ text: 'a\0b\ud800c' });
  const record = await run(service, agent, key);
  assert.equal(record.status, 'success');
  assert.equal(record.output, 'a\uFFFDb\uFFFDc');
});

test('a defect ends the execution as INTERNAL without internal details', async () => {
  const agent = await addAgent(service);
  service.models.script(async () => {
    throw new TypeError('secret inside');
  });
  const record = await run(service, agent, key);
  assert.equal(record.errorCode, 'INTERNAL');
  assert.ok(!JSON.stringify(record).includes('secret inside'));
  assert.equal(service.faults.splice(0).length, 1);
});

test('maxConcurrency is exact, and every execution ends', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 3 } });
  let now = 0;
  let most = 0;
  // All wait until three have started, however slowly they start.
  const three = Promise.withResolvers<void>();
  const step = async () => {
    most = Math.max(most, ++now);
    if (now === 3) three.resolve();
    await three.promise;
    await new Promise((resolve) => setTimeout(resolve, 5));
    now--;
    return {};
  };
  service.models.script(...Array.from({ length: 20 }, () => step));
  const urls = await Promise.all(Array.from({ length: 20 }, () => execute(agent)));
  const records = await Promise.all(urls.map((url) => ended(service, url, key)));
  assert.ok(records.every(({ status }) => status === 'success'));
  assert.equal(most, 3);
});

test('an attempt that is aborted while its template is read does not call the model', async () => {
  const stopping = new AbortController();
  const deps = {
    models: { call: () => assert.fail('it was called') },
    compute: inlineCompute,
    bytes: new ByteShares(100),
    template: async () => {
      stopping.abort('drain');
      return { system: null, user: 'Hello' };
    },
    ...{ ...permits, onFault: assert.ifError },
  };
  const attempt = await executeAttempt(deps, claimed, runOf(stopping.signal));
  assert.deepEqual(attempt, { kind: 'stopped', sent: null });
});

test('a call whose bound is in the queue is sent without writing it again', async () => {
  const models = scriptedModels();
  const deps = {
    ...{ models, compute: inlineCompute, bytes: new ByteShares(100_000), ...permits },
    template: async () => ({ system: null, user: 'Hello' }),
    onFault: assert.ifError,
  };
  const price = {
    ...{ inputPerMillion: '1', outputPerMillion: '1' },
    ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
  };
  const limited = {
    ...{ ...claimed, setup: { provider: null, price }, callBoundUsd: '0.000031' },
    settings: { ...settings, maxTokens: 10, maxCostUSD: 0.000031 },
  };
  const run = () => runOf(new AbortController().signal);
  const sent = await executeAttempt(deps, limited, run());
  assert.ok(sent.kind === 'ended' && sent.status === 'success');
  const spent = await executeAttempt(deps, { ...limited, spentUsd: '0.0000000001' }, run());
  assert.ok(spent.kind === 'ended' && spent.errorCode === 'COST_LIMIT');
  const writeBound = async () => false;
  const lost = { ...limited, callBoundUsd: '0.00003' };
  const stopped = await executeAttempt({ ...deps, writeBound }, lost, run());
  assert.equal(stopped.kind, 'stopped');
  assert.equal(models.calls.length, 1);
});

test('an attempt holds its prompt and its answer, and waits for room before it renders', async () => {
  const bytes = new ByteShares(1_000_000);
  const text = 'x'.repeat(40_000);
  const deps = {
    models: scriptedModels(),
    compute: inlineCompute,
    bytes,
    template: async () => ({ system: null, user: text }),
    ...{ ...permits, onFault: assert.ifError },
  };
  const others = bytes.tryHold(claimed.workspaceId, 800_000);
  const run = runOf(new AbortController().signal);
  const attempt = executeAttempt(deps, claimed, run);
  await immediate();
  assert.deepEqual([bytes.paused, bytes.used], [1, 800_000]);
  others?.();
  assert.equal((await attempt).kind, 'ended');
  assert.ok(bytes.used >= 6 * text.length, `${bytes.used}`);
  for (const free of run.reservations) free();
  assert.equal(bytes.used, 0);
});

test('an attempt that is aborted while it waits for room calls nothing and holds nothing', async () => {
  const bytes = new ByteShares(1_000_000);
  bytes.tryHold(claimed.workspaceId, 900_000);
  const stopping = new AbortController();
  const run = runOf(stopping.signal);
  const attempt = executeAttempt(longPrompt(bytes), claimed, run);
  await immediate();
  assert.equal(bytes.paused, 1);
  stopping.abort('drain');
  assert.deepEqual(await attempt, { kind: 'stopped', sent: null });
  assert.deepEqual([run.reservations, bytes.used], [[], 900_000]);
});

test('an attempt that waits for room ends at its deadline', async () => {
  const bytes = new ByteShares(1_000_000);
  bytes.tryHold(claimed.workspaceId, 900_000);
  const late = { ...claimed, settings: { ...settings, timeoutMs: 1_000 }, elapsedMs: 990 };
  // The timer of a deadline keeps no process running.
  const running = setInterval(() => {}, 1_000);
  const attempt = await executeAttempt(
    longPrompt(bytes),
    late,
    runOf(new AbortController().signal),
  );
  clearInterval(running);
  assert.ok(attempt.kind === 'ended');
  assert.deepEqual([attempt.errorCode, attempt.counted], ['MODEL_TIMEOUT', false]);
  assert.equal(bytes.used, 900_000);
});

test('room that comes in the moment of an abort calls nothing', async () => {
  const bytes = new ByteShares(1_000_000);
  const others = bytes.tryHold(claimed.workspaceId, 800_000);
  const stopping = new AbortController();
  const run = runOf(stopping.signal);
  const attempt = executeAttempt(longPrompt(bytes), claimed, run);
  await immediate();
  others?.();
  stopping.abort('drain');
  assert.deepEqual(await attempt, { kind: 'stopped', sent: null });
  for (const free of run.reservations) free();
  assert.equal(bytes.used, 0);
});

test('an attempt reads the messages of earlier turns once there is room for them, and waits without its prompt', async () => {
  const bytes = new ByteShares(1_000_000);
  const message = JSON.stringify({
    provider: 'cueline',
    content: [{ type: 'reasoning', text: 'x'.repeat(100_000) }],
  });
  const read: string[][] = [];
  const toolCalls = [{ id: 'c', name: 'f', arguments: {} }];
  const list = [
    { role: 'assistant', toolCalls },
    { role: 'tool', toolCallId: 'c', content: 'y' },
  ];
  const found = { executionId: 'earlier', chars: message.length };
  const deps: ExecuteDeps = {
    models: scriptedModels(),
    compute: inlineCompute,
    bytes,
    template: async () => ({ system: null, user: null, messages: [{ placeholder: 'history' }] }),
    ...{ ...permits, onFault: assert.ifError },
    earlierMessages: {
      find: async (_, [digest = '']) => [{ digest, ...found }],
      async read(ids) {
        read.push([...ids]);
        return new Map([['earlier', message]]);
      },
    },
  };
  const others = bytes.tryHold(claimed.workspaceId, 800_000);
  const run = runOf(new AbortController().signal);
  const inputVariables = JSON.stringify({ history: list });
  const attempt = executeAttempt(deps, { ...claimed, inputVariables }, run);
  await immediate();
  assert.deepEqual([bytes.paused, bytes.used, read], [1, 800_000, []]);
  others?.();
  const outcome = await attempt;
  assert.ok(outcome.kind === 'ended' && outcome.status === 'success');
  assert.deepEqual(read, [['earlier']]);
  assert.ok(bytes.used >= 4 * message.length, `${bytes.used}`);
  for (const free of run.reservations) free();
  assert.equal(bytes.used, 0);
});

test('a turn whose results find no room goes back to the queue, and goes on once there is some', async () => {
  const bytes = new ByteShares(1_000_000);
  const models = scriptedModels();
  const tools = scriptedTools();
  const written: string[] = [];
  const write =
    <T>(what: string, result: T) =>
    async () => {
      written.push(what);
      return result;
    };
  const deps: ExecuteDeps = {
    ...{ models, compute: inlineCompute, bytes, ...permits, onFault: assert.ifError },
    template: async () => ({ system: null, user: 'Hello', executedTools: [executedTool()] }),
    toolLoop: {
      ...{ tools, bytes, onError: assert.ifError },
      reads: { chars: async () => 0, turns: async () => [] },
      writes: {
        ...{ turn: write('turn', new Map()), dispatch: write('dispatch', new Map()) },
        settle: write('settle', true as const),
      },
    },
  };
  const run = () => ({ ...runOf(new AbortController().signal), advance: () => {} });
  const long = toolResult('x'.repeat(60_000));
  let others: (() => void) | null = null;
  models.script(calling(['act', {}]));
  tools.script(() => {
    others = bytes.tryHold(claimed.workspaceId, 800_000);
    return long;
  });
  const waiting = await executeAttempt(deps, claimed, run());
  assert.ok(waiting.kind === 'retry');
  assert.deepEqual([waiting.failed, waiting.rejected, waiting.unstarted], [null, false, false]);
  assert.deepEqual([written, models.calls.length], [['turn', 'settle'], 1]);
  (others as (() => void) | null)?.();
  models.script(calling(['act', {}]), { text: 'done' });
  tools.script(long);
  const going = run();
  const outcome = await executeAttempt(deps, claimed, going);
  assert.ok(outcome.kind === 'ended' && outcome.output === 'done');
  assert.ok(bytes.used >= 4 * 60_000, `${bytes.used}`);
});

test('an output that takes too much memory to check is a failure whose cost is known', async () => {
  const schema = { type: 'object' };
  const models = scriptedModels();
  const deps = {
    models,
    compute: { run: () => Promise.reject(new JobTooLarge()) },
    bytes: new ByteShares(100),
    template: async () => ({
      ...{ system: null, user: 'Hello' },
      responseFormat: { type: 'json' as const, schema },
    }),
    ...{ ...permits, onFault: assert.ifError },
  };
  const execution = { ...claimed, mismatch: 'It does not match.' };
  const attempt = await executeAttempt(deps, execution, runOf(new AbortController().signal));
  assert.ok(attempt.kind === 'ended');
  const { errorCode, error, cost } = attempt;
  assert.deepEqual([errorCode, cost.known], ['SCHEMA_MISMATCH', true]);
  assert.match(error ?? '', /takes too much memory/);
});

/** A prompt that needs room, and a model that must not be called. */
function longPrompt(bytes: ByteShares): ExecuteDeps {
  return {
    models: { call: () => assert.fail('it was called') },
    compute: inlineCompute,
    bytes,
    template: async () => ({ system: null, user: 'x'.repeat(40_000) }),
    ...{ ...permits, onFault: assert.ifError },
  };
}

function runOf(signal: AbortSignal): AttemptRun {
  return {
    ...{ signal, isOwned: () => true, isHeld: () => true, reservations: [] },
    advance: () => assert.fail('there is no further turn'),
  };
}

const settings = {
  ...{ maxTokens: null, topP: null, maxAttempts: 1, timeoutMs: 60_000, maxConcurrency: null },
  defaults: {},
};
const claimed: QueuedExecution = {
  ...{ id: 'r', workspaceId: 'w', agentId: 'a', worker: 'p', attempt: 1, failures: 0, losses: 0 },
  ...{ source: 'api', promptVersionId: 'v', model: 'cueline/echo', apiKeyId: null, labels: null },
  ...{
    temperature: null,
    inputVariables: '{}',
    fileData: null,
    inputBytes: 4,
    rejections: 0,
    waitCode: null,
  },
  setup: emptySetup,
  ...{ storeBodies: true, slotAgentId: null, workflow: null },
  ...{ settings, called: false, emptied: false, mismatch: null, elapsedMs: 0 },
  ...{ spentUsd: '0', callBoundUsd: null, mustReserve: false, reservedUsd: null },
  turns: null,
};
