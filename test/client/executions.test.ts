import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, json, problem, reset, type Step, silence, stage } from './server.ts';

const agent = 'agt_1';
const run = 'exe_1';
const accepted = json(202, { executionId: run });
const processing = json(200, { executionId: run, status: 'processing' }, { 'retry-after': '3' });
const success = json(200, { executionId: run, status: 'success', outputText: 'Tides.' });
const path = '/api/v1/agents/agt_1/executions/exe_1';

test('wait long-polls and obeys Retry-After', async (t) => {
  const { requests, delays, client } = await stage(t, processing, processing, success);
  const ended = await client().wait(agent, run);
  assert.equal(ended.status, 'success');
  assert.equal(ended.outputText, 'Tides.');
  assert.deepEqual(delays, [3_000, 3_000]);
  for (const { url } of requests)
    assert.match(url, new RegExp(`^${path}\\?wait=([1-9]|1\\d|2[0-5])$`));
});

test('wait ends with every final status', async (t) => {
  for (const status of ['failed', 'canceled', 'rate_limited', 'unauthorized']) {
    const { client } = await stage(t, json(200, { executionId: run, status }));
    assert.equal((await client().wait(agent, run)).status, status);
  }
});

test('wait survives a restart of the server', async (t) => {
  const down = problem(503, 'UNAVAILABLE', { headers: { 'retry-after': '1' } });
  const limited = problem(429, 'RATE_LIMIT_EXCEEDED', { headers: { 'retry-after': '1' } });
  const steps: Step[] = [reset, reset, reset, down, limited, reset, processing, reset, success];
  const { requests, client } = await stage(t, processing, ...steps);
  assert.equal((await client().wait(agent, run)).status, 'success');
  assert.equal(requests.length, 10);
});

test('wait fails if the server stays unreachable', async (t) => {
  const { requests, client } = await stage(t, reset);
  assert.equal((await failure(client().wait(agent, run))).code, 'CONNECTION_FAILED');
  assert.equal(requests.length, 11);
});

test('wait fails immediately for an unknown execution', async (t) => {
  const { requests, client } = await stage(t, problem(404, 'NOT_FOUND'));
  assert.equal((await failure(client().wait(agent, run))).code, 'NOT_FOUND');
  assert.equal(requests.length, 1);
});

test('wait times out and returns the last record', async (t) => {
  const { client } = await stage(t, processing, silence);
  const error = await failure(client().wait(agent, run, { timeoutMs: 200 }));
  assert.equal(error.code, 'WAIT_TIMEOUT');
  assert.match(error.message, /exe_1/);
  const last = error.body as { status: string } | null;
  assert.ok(last === null || last.status === 'processing');
});

test("a long poll is shorter than the attempt's timeout and ends before the wait does", async (t) => {
  const holds: [object, number, string][] = [
    [{ requestTimeoutMs: 1_000 }, 600_000, path],
    [{ requestTimeoutMs: 10_000 }, 600_000, `${path}?wait=5`],
    [{}, 600_000, `${path}?wait=25`],
  ];
  for (const [options, timeoutMs, url] of holds) {
    const { requests, client } = await stage(t, success);
    await client(options).wait(agent, run, { timeoutMs });
    assert.equal(requests[0]?.url, url);
  }
  const { requests, client } = await stage(t, success);
  await client().wait(agent, run, { timeoutMs: 20_000 });
  assert.ok(Number(requests[0]?.url.split('=')[1]) < 20);
});

test("wait accepts a timeout longer than a timer's", async (t) => {
  const many = Array.from({ length: 30 }, () => processing);
  for (const ms of [3e9, Number.POSITIVE_INFINITY]) {
    const { requests, client } = await stage(t, processing, ...many, success);
    await client({ requestTimeoutMs: ms }).wait(agent, run, { timeoutMs: ms });
    assert.equal(requests.length, 32);
  }
});

test('wait can be aborted', async (t) => {
  const reason = new Error('enough');
  const abort = new AbortController();
  const { client } = await stage(t, processing, () => abort.abort(reason));
  await assert.rejects(client().wait(agent, run, { signal: abort.signal }), reason);
});

test('executeAndWait retries safely with a generated idempotency key', async (t) => {
  const { requests, client } = await stage(t, reset, accepted, processing, success);
  const ended = await client().executeAndWait(agent, { topic: 'tides' });
  assert.equal(ended.outputText, 'Tides.');
  const keys = requests.slice(0, 2).map(({ headers }) => headers['idempotency-key']);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.equal(keys[0], keys[1]);
  assert.equal(requests[2]?.headers['idempotency-key'], undefined);
});

test("executeAndWait keeps the caller's idempotency key", async (t) => {
  const { requests, client } = await stage(t, accepted, success);
  await client().executeAndWait(agent, {}, { idempotencyKey: 'mine', timeoutMs: 60_000 });
  assert.equal(requests[0]?.headers['idempotency-key'], 'mine');
});

test('status does not long-poll, and cancel is sent once', async (t) => {
  const { requests, client } = await stage(t, success, reset);
  await client().status(agent, run);
  await assert.rejects(client().cancel(agent, run), { code: 'CONNECTION_FAILED' });
  assert.deepEqual(
    requests.map(({ method, url }) => [method, url]),
    [
      ['GET', path],
      ['POST', `${path}/cancel`],
    ],
  );
});

const history = Array.from({ length: 5 }, (_, n) => ({ executionId: `exe_${n}` }));

/** Paginates like the server: by offset or by cursor. */
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
  test(`listAll pages through the history by ${withCursor ? 'cursor' : 'offset'}`, async (t) => {
    const { requests, client } = await stage(t, pages(withCursor));
    const all = await Array.fromAsync(client().listAll(agent, { limit: 2, status: 'failed' }));
    assert.deepEqual(all, history);
    assert.deepEqual(
      requests.map(({ url }) => url.split('?')[1]),
      ['', '2', '4'].map((at) => {
        const place = withCursor ? `&cursor=c${at}` : `&offset=${at}`;
        return `limit=2&status=failed${at === '' ? '' : place}`;
      }),
    );
  });
}

test('a loop that ends early requests no more pages', async (t) => {
  const { requests, client } = await stage(t, pages(true));
  for await (const { executionId } of client().listAll(agent, { limit: 2 })) {
    if (executionId === 'exe_1') break;
  }
  assert.equal(requests.length, 1);
});

test('an empty page with hasMore ends the loop', async (t) => {
  const { client } = await stage(
    t,
    json(200, { executions: [], pagination: { limit: 1, offset: 0, total: 9, hasMore: true } }),
  );
  assert.deepEqual(await Array.fromAsync(client().listAll(agent)), []);
});
