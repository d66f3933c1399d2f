import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createOutbound } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';
import { readResponseBody } from '../../src/net/response-body.ts';
import { errorBytesMax, responseValuesMax } from '../../src/net/response-limits.ts';

let handle: RequestListener;
const server = createServer((request, response) => handle(request, response));
const outbound = createOutbound({ allowedHosts: [] });

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(async () => {
  await outbound.close();
  server.closeAllConnections();
  server.close();
});

function call(listener: RequestListener): Promise<Response> {
  handle = listener;
  return outbound.trusted(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

async function refusal(listener: RequestListener): Promise<string> {
  const error = await call(listener).then(
    () => assert.fail('it was taken'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof OutboundFailure, String(error));
  assert.equal(error.kind, 'malformed');
  return error.message;
}

describe('a success', () => {
  test('has no more values than a model gives', async () => {
    const body = `{"choices":[${'0,'.repeat(responseValuesMax)}0]}`;
    assert.match(await refusal((_, response) => response.end(body)), /more than 50000 values/);
  });

  test('may have a text of any kind', async () => {
    const body = JSON.stringify({ text: '[{"a",'.repeat(responseValuesMax) });
    assert.equal(await (await call((_, response) => response.end(body))).text(), body);
  });

  test('is not compressed: a small body could become any size', async () => {
    const message = await refusal((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
    );
    assert.match(message, /compressed its response/);
  });

  test('may say in any letters that it is not compressed', async () => {
    const answer = await call((_, response) =>
      response.writeHead(200, { 'content-encoding': 'Identity' }).end('{}'),
    );
    assert.equal(await answer.text(), '{}');
  });

  for (const status of [204, 205]) {
    test(`may have no body by its status ${status}`, async () => {
      const answer = await call((_, response) => response.writeHead(status).end());
      assert.deepEqual([answer.status, await answer.text()], [status, '']);
    });
  }
});

describe('an error', () => {
  const headers = { 'retry-after': '7' };

  test('is read only so far', async () => {
    const text = 'x'.repeat(errorBytesMax);
    const answer = await call((_, response) => response.writeHead(503, headers).end(`${text}yz`));
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '7']);
    assert.equal(await answer.text(), text);
  });

  test('stays what it is when it never ends', async () => {
    const piece = Buffer.alloc(errorBytesMax);
    const answer = await call((_, response) => {
      response.on('error', () => {});
      const more = () => {
        while (response.write(piece));
        response.once('drain', more);
      };
      response.writeHead(429, headers);
      more();
    });
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '7']);
  });

  test('stays what it is when it breaks off', async () => {
    const answer = await call((_, response) =>
      response.writeHead(401).write('no such key', () => void response.socket?.resetAndDestroy()),
    );
    assert.equal(answer.status, 401);
  });

  test('stays what it is when it is compressed', async () => {
    const answer = await call((_, response) =>
      response.writeHead(429, { ...headers, 'content-encoding': 'gzip' }).end(gzipSync('slow')),
    );
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '7']);
    assert.equal(await answer.text(), '');
  });

  test('ends with the signal of its call', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    async function* body() {
      yield Buffer.from('{');
      controller.abort(reason);
      throw reason;
    }
    const answer = { statusCode: 500, headers: {}, body: body() };
    await assert.rejects(readResponseBody(answer as never, controller.signal), reason);
  });

  test('has a status that exists', async () => {
    const message = await refusal((_, response) => response.writeHead(600).end('x'));
    assert.equal(message, 'The provider answered 600, which is not an HTTP status.');
  });

  test('may be a redirect without a body', async () => {
    const answer = await call((_, response) => response.writeHead(304).end());
    assert.equal(answer.status, 304);
  });
});
