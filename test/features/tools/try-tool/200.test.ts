import assert from 'node:assert/strict';
import http from 'node:http';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../../../../harness/free-port.ts';
import { type Answer, startReceiver, status, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { addToolServer, refundTool } from '../../../../harness/tool-server.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const secret = 'tok-5ecret-0f-the-owner';
const server = await addToolServer(service, {
  url: receiver.url,
  headers: { Authorization: `Bearer ${secret}` },
  tools: [{ ...refundTool, path: '/refunds' }],
});
const { key, path } = server;

async function tryWith(answer: Answer, args: object = { orderId: 'o-1' }) {
  receiver.answer = answer;
  const body = { arguments: args };
  return (await service.call('POST', `${path}/tools/refund/try`, { key, body })).body;
}
const text = (body: string, code = 200, headers = {}): Answer => {
  return (_, response) => void response.writeHead(code, headers).end(body);
};

test('the request is signed as Standard Webhooks specifies, and names the call', async () => {
  const before = receiver.requests.length;
  const tried = await tryWith(text('{"refunded":true}'), { orderId: 'ä', cents: 5 });
  const { toolCallId, latencyMs, ...rest } = tried;
  assert.ok(latencyMs >= 0);
  assert.deepEqual(rest, {
    outcome: 'done',
    isError: false,
    result: '{"refunded":true}',
    problem: null,
  });
  const [request] = receiver.requests.slice(before);
  assert.ok(request);
  assert.equal(request.body, '{"orderId":"ä","cents":5}');
  assert.match(toolCallId, /^tcl_/);
  const { headers } = request;
  assert.deepEqual(
    [
      headers['webhook-id'],
      headers['idempotency-key'],
      headers['cueline-tool'],
      headers.authorization,
    ],
    [toolCallId, toolCallId, 'refund', `Bearer ${secret}`],
  );
  assert.deepEqual(
    [headers['content-type'], headers['cueline-execution'], headers.traceparent],
    ['application/json', undefined, undefined],
  );
  new Webhook(server.signingSecret).verify(request.body, request.headers);
});

test('after a rotation, both secrets sign for a while', async () => {
  const { body } = await service.call('POST', `${path}/rotate`, {
    key,
    body: { graceSeconds: 60 },
  });
  await tryWith(text('ok'));
  const request = receiver.requests.at(-1);
  assert.ok(request);
  for (const one of [server.signingSecret, body.signingSecret]) {
    new Webhook(one).verify(request.body, request.headers);
  }
  const { body: again } = await service.call('POST', `${path}/rotate`, { key });
  await tryWith(text('ok'));
  const next = receiver.requests.at(-1);
  assert.ok(next);
  new Webhook(again.signingSecret).verify(next.body, next.headers);
  assert.throws(() => new Webhook(body.signingSecret).verify(next.body, next.headers));
});

describe('how a call ends', () => {
  const cases: [string, Answer, string, boolean, RegExp][] = [
    ['200', text('fine'), 'done', false, /^fine$/],
    ['204', text('', 204), 'done', false, /^$/],
    ['202 with a promise', text('{"pending":true}', 202), 'done', false, /pending/],
    [
      '302',
      text('', 302, { location: 'http://127.0.0.1/' }),
      'done',
      true,
      /redirect, which is not followed/,
    ],
    ['400', text('no such order', 400), 'done', true, /answered 400: no such order/],
    ['500', text('', 500), 'done', true, /answered 500:$/],
    ['501', text('', 501), 'done', true, /answered 501/],
    ['429', text('slow', 429), 'done', true, /answered 429: slow/],
    [
      '429 with Retry-After',
      text('', 429, { 'retry-after': '7' }),
      'refused',
      true,
      /answered 429/,
    ],
    ['408', text('', 408), 'unknown', true, /answered 408/],
    ['502', text('', 502), 'unknown', true, /answered 502/],
    [
      '503 with Retry-After',
      text('', 503, { 'retry-after': '7' }),
      'unknown',
      true,
      /answered 503/,
    ],
    ['504', text('', 504), 'unknown', true, /answered 504/],
    ['522', text('', 522), 'unknown', true, /answered 522/],
    ['a broken connection', (_, response) => void response.destroy(), 'unknown', true, /broke/],
    ['a broken body', broken(200), 'unknown', true, /broke before its answer was complete/],
    [
      'a broken error',
      broken(400),
      'done',
      true,
      /answered 400: half\n\[The rest .* not be read\.\]$/,
    ],
    ['too much', text('x'.repeat(1_048_577)), 'done', true, /too long/],
    ['cut gzip', cutGzip, 'done', true, /not readable/],
    ['too much of an error', text('x'.repeat(1_048_577), 400), 'done', true, /cut to 65536 bytes/],
    ['no text', text('\0\ud800'), 'done', false, /^\ufffd+$/],
  ];
  for (const [what, answer, outcome, isError, pattern] of cases) {
    test(what, async () => {
      const tried = await tryWith(answer);
      assert.deepEqual([tried.outcome, tried.isError], [outcome, isError]);
      assert.match(tried.result ?? tried.problem, pattern);
      assert.equal(tried.result === null, outcome !== 'done');
    });
  }

  function cutGzip(_: unknown, response: Parameters<Answer>[1]) {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync('{"a":1}').subarray(0, 15));
  }

  function broken(code: number): Answer {
    return (_, response) => {
      response.writeHead(code, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
  }
});

test('no result repeats a secret of the server, in any form', async () => {
  for (const one of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
    for (const answer of [text(`You sent ${one}.`), text(`You sent ${one}.`, 401)]) {
      const { result } = await tryWith(answer);
      assert.match(result, /You sent \[redacted\]/);
    }
  }
  const { result } = await tryWith(text(`${'x'.repeat(65_530)}${secret}`));
  assert.ok(!result.includes(secret.slice(0, 4)));
});

test('a long result is cut at a character, and says so', async () => {
  const { result } = await tryWith(text('😀'.repeat(20_000)));
  assert.ok(Buffer.byteLength(result) <= 65_536);
  assert.match(result, /^(😀)+\n\[The result is cut to 65536 bytes\.\]$/u);
});

test('nothing is sent to a server that is not there, is disabled or may not be called', async () => {
  const gone = await addToolServer(service, { url: `http://127.0.0.1:${await freePort()}` });
  const tryIt = async () =>
    (await service.call('POST', `${gone.path}/tools/refund/try`, { key })).body;
  assert.deepEqual((await tryIt()).outcome, 'refused');
  await service.call('PATCH', gone.path, { key, body: { enabled: false } });
  assert.match((await tryIt()).result, /disabled/);
  await sql`update tool_servers set enabled = true, url = 'http://127.0.0.2/' where name = ${gone.name}`.execute(
    service.db,
  );
  assert.match((await tryIt()).result, /not allowed/);
  await sql`update tool_servers set url = 'http://127.0.0.1/', sealed_secret = 'x' where name = ${gone.name}`.execute(
    service.db,
  );
  assert.match((await tryIt()).result, /cannot be decrypted/);
});

test('an unknown tool is 404', async () => {
  const { status: code } = await service.call('POST', `${path}/tools/nothing/try`, { key });
  assert.equal(code, 404);
});

test('a call is in the audit log before it is sent, without its arguments', async () => {
  const { toolCallId } = await tryWith(text('ok'), { orderId: 'private-1' });
  const { body } = await service.call('GET', '/api/v1/audit?limit=5', { key });
  const entry = body.audit.find(({ action }: { action: string }) => action === 'toolServer.try');
  assert.deepEqual(entry.details, { tool: 'refund', toolCallId });
  assert.ok(!JSON.stringify(body).includes('private-1'));
});

test('a check tells whether the server answers', async () => {
  const check = async (of: { path: string }) =>
    (await service.call('POST', `${of.path}/check`, { key })).body;
  const listening = http.createServer((_, response) => void response.writeHead(404).end());
  const port = await new Promise<number>((resolve) => {
    listening.listen(0, '127.0.0.1', () => resolve((listening.address() as { port: number }).port));
  });
  const up = await addToolServer(service, { url: `http://127.0.0.1:${port}` });
  const { checkedAt, toolServerId, ...found } = await check(up);
  assert.ok(checkedAt && toolServerId);
  assert.deepEqual(found, { problem: null, added: [], changed: [], gone: [] });
  listening.close();
  await new Promise((resolve) => listening.once('close', resolve));
  assert.match((await check(up)).problem, /Could not reach the tool server/);
  const { body } = await service.call('GET', up.path, { key });
  assert.match(body.problem, /Could not reach/);
  void status;
});
