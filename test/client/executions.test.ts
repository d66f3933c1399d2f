import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, json, problem, reset, type Step, silence, stage } from './server.ts';

const agent = 'agt_1';
const run = 'exe_1';
const accepted = json(202, { executionId: run });
const processing = json(200, { executionId: run, status: 'processing' }, { 'retry-after': '3' });
const success = json(200, { executionId: run, status: 'success', outputText: 'Tides.' });
const path = '/api/v1/agents/agt_1/executions/exe_1';

test('waiting lets the server hold the answer, and asks again when it says', async (t) => {
  const { asked, delays, client } = await stage(t, processing, processing, success);
  const ended = await client().wait(agent, run);
  assert.equal(ended.status, 'success');
  assert.equal(ended.outputText, 'Tides.');
  assert.deepEqual(delays, [3_000, 3_000]);
  for (const { url } of asked)
    assert.match(url, new RegExp(`^${path}\\?wait=([1-9]|1\\d|2[0-5])$`));
});

test('waiting ends however the run ends', async (t) => {
  for (const status of ['failed', 'canceled', 'rate_limited', 'unauthorized']) {
    const { client } = await stage(t, json(200, { executionId: run, status }));
    assert.equal((await client().wait(agent, run)).status, status);
  }
});

test('waiting outlives a restart of the server', async (t) => {
  const down = problem(503, 'UNAVAILABLE', { headers: { 'retry-after': '1' } });
  const limited = problem(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '1' } });
  const steps: Step[] = [reset, reset, reset, down, limited, reset, processing, reset, success];
  const { asked, client } = await stage(t, processing, ...steps);
  assert.equal((await client().wait(agent, run)).status, 'success');
  assert.equal(asked.length, 10);
});

test('waiting does not outlive a server that is gone', async (t) => {
  const { asked, client } = await stage(t, reset);
  assert.equal((await failure(client().wait(agent, run))).code, 'CONNECTION_FAILED');
  assert.equal(asked.length, 11);
});

test('waiting for an unknown run fails at once', async (t) => {
  const { asked, client } = await stage(t, problem(404, 'NOT_FOUND'));
  assert.equal((await failure(client().wait(agent, run))).code, 'NOT_FOUND');
  assert.equal(asked.length, 1);
});

test('waiting takes only so long, and then shows where the run stood', async (t) => {
  const { client } = await stage(t, processing, silence);
  const error = await failure(client().wait(agent, run, { timeoutMs: 200 }));
  assert.equal(error.code, 'WAIT_TIMEOUT');
  assert.match(error.message, /exe_1/);
  const last = error.body as { status: string } | null;
  assert.ok(last === null || last.status === 'processing');
});

test('waiting is held no longer than an attempt may take and not to the very end', async (t) => {
  const holds: [object, number, string][] = [
    [{ requestTimeoutMs: 1_000 }, 600_000, path],
    [{ requestTimeoutMs: 10_000 }, 600_000, `${path}?wait=5`],
    [{}, 600_000, `${path}?wait=25`],
  ];
  for (const [options, timeoutMs, url] of holds) {
    const { asked, client } = await stage(t, success);
    await client(options).wait(agent, run, { timeoutMs });
    assert.equal(asked[0]?.url, url);
  }
  const { asked, client } = await stage(t, success);
  await client().wait(agent, run, { timeoutMs: 20_000 });
  assert.ok(Number(asked[0]?.url.split('=')[1]) < 20);
});

test('waiting may take longer than a timer can', async (t) => {
  const many = Array.from({ length: 30 }, () => processing);
  for (const ms of [3e9, Number.POSITIVE_INFINITY]) {
    const { asked, client } = await stage(t, processing, ...many, success);
    await client({ requestTimeoutMs: ms }).wait(agent, run, { timeoutMs: ms });
    assert.equal(asked.length, 32);
  }
});

test('waiting can be aborted', async (t) => {
  const reason = new Error('enough');
  const abort = new AbortController();
  const { client } = await stage(t, processing, () => abort.abort(reason));
  await assert.rejects(client().wait(agent, run, { signal: abort.signal }), reason);
});

test('executing and waiting is safe to repeat without the caller doing anything', async (t) => {
  const { asked, client } = await stage(t, reset, accepted, processing, success);
  const ended = await client().executeAndWait(agent, { topic: 'tides' });
  assert.equal(ended.outputText, 'Tides.');
  const keys = asked.slice(0, 2).map(({ headers }) => headers['idempotency-key']);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.equal(keys[0], keys[1]);
  assert.equal(asked[2]?.headers['idempotency-key'], undefined);
});

test("executing and waiting keeps the caller's own idempotency key", async (t) => {
  const { asked, client } = await stage(t, accepted, success);
  await client().executeAndWait(agent, {}, { idempotencyKey: 'mine', timeoutMs: 60_000 });
  assert.equal(asked[0]?.headers['idempotency-key'], 'mine');
});

test('reading the status holds nothing, canceling is sent once', async (t) => {
  const { asked, client } = await stage(t, success, reset);
  await client().status(agent, run);
  await assert.rejects(client().cancel(agent, run), { code: 'CONNECTION_FAILED' });
  assert.deepEqual(
    asked.map(({ method, url }) => [method, url]),
    [
      ['GET', path],
      ['POST', `${path}/cancel`],
    ],
  );
});

const history = Array.from({ length: 5 }, (_, n) => ({ executionId: `exe_${n}` }));

/** Answers as the server does: by offset, or by a cursor where it is to. */
function pages(withCursor: boolean): Step {
  return (response, { url }) => {
    const query = new URL(url, 'http://any').searchParams;
    const limit = Number(query.get('limit'));
    const offset = Number(query.get('cursor')?.slice(1) ?? query.get('offset') ?? 0);
    const executions = history.slice(offset, offset + limit);
    const hasMore = offset + limit < history.length;
    const nextCursor = withCursor && hasMore ? { nextCursor: `c${offset + limit}` } : {};
    const pagination = { limit, offset, total: history.length, hasMore };
    json(200, { executions, pagination, ...nextCursor })(response, {} as never);
  };
}

for (const withCursor of [true, false]) {
  test(`the whole history comes page by page, by ${withCursor ? 'cursor' : 'offset'}`, async (t) => {
    const { asked, client } = await stage(t, pages(withCursor));
    const all = await Array.fromAsync(client().listAll(agent, { limit: 2, status: 'failed' }));
    assert.deepEqual(all, history);
    assert.deepEqual(
      asked.map(({ url }) => url.split('?')[1]),
      ['', '2', '4'].map((at) => {
        const place = withCursor ? `&cursor=c${at}` : `&offset=${at}`;
        return `limit=2&status=failed${at === '' ? '' : place}`;
      }),
    );
  });
}

test('a loop that ends early asks for no more pages', async (t) => {
  const { asked, client } = await stage(t, pages(true));
  for await (const { executionId } of client().listAll(agent, { limit: 2 })) {
    if (executionId === 'exe_1') break;
  }
  assert.equal(asked.length, 1);
});

test('a page that says there is more but is empty ends the loop', async (t) => {
  const { client } = await stage(
    t,
    json(200, { executions: [], pagination: { limit: 1, offset: 0, total: 9, hasMore: true } }),
  );
  assert.deepEqual(await Array.fromAsync(client().listAll(agent)), []);
});
