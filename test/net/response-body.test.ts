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
    () => assert.fail('the response was accepted'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof OutboundFailure, String(error));
  assert.equal(error.kind, 'malformed');
  return error.message;
}

describe('a success', () => {
  test('is rejected with more values than a model returns', async () => {
    const body = `{"choices":[${'0,'.repeat(responseValuesMax)}0]}`;
    assert.match(await refusal((_, response) => response.end(body)), /more than 50000 values/);
  });

  test('may contain any text', async () => {
    const body = JSON.stringify({ text: '[{"a",'.repeat(responseValuesMax) });
    assert.equal(await (await call((_, response) => response.end(body))).text(), body);
  });

  test('is rejected if compressed, because a small body could expand to any size', async () => {
    const message = await refusal((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
    );
    assert.match(message, /compressed its response/);
  });

  test('may declare identity encoding in any case', async () => {
    const result = await call((_, response) =>
      response.writeHead(200, { 'content-encoding': 'Identity' }).end('{}'),
    );
    assert.equal(await result.text(), '{}');
  });

  for (const status of [204, 205]) {
    test(`may have no body with status ${status}`, async () => {
      const result = await call((_, response) => response.writeHead(status).end());
      assert.deepEqual([result.status, await result.text()], [status, '']);
    });
  }
});

describe('an error', () => {
  const headers = { 'retry-after': '7' };

  test('is truncated at the size limit', async () => {
    const text = 'x'.repeat(errorBytesMax);
    const result = await call((_, response) => response.writeHead(503, headers).end(`${text}yz`));
    assert.deepEqual([result.status, result.headers.get('retry-after')], [503, '7']);
    assert.equal(await result.text(), text);
  });

  test('keeps its status if the body never ends', async () => {
    const piece = Buffer.alloc(errorBytesMax);
    const result = await call((_, response) => {
      response.on('error', () => {});
      const more = () => {
        while (response.write(piece));
        response.once('drain', more);
      };
      response.writeHead(429, headers);
      more();
    });
    assert.deepEqual([result.status, result.headers.get('retry-after')], [429, '7']);
  });

  test('keeps its status if the body is interrupted', async () => {
    const result = await call((_, response) =>
      response.writeHead(401).write('no such key', () => void response.socket?.resetAndDestroy()),
    );
    assert.equal(result.status, 401);
  });

  test('keeps its status if the body is compressed', async () => {
    const result = await call((_, response) =>
      response.writeHead(429, { ...headers, 'content-encoding': 'gzip' }).end(gzipSync('slow')),
    );
    assert.deepEqual([result.status, result.headers.get('retry-after')], [429, '7']);
    assert.equal(await result.text(), '');
  });

  test('is aborted with its call', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    async function* body() {
      yield Buffer.from('{');
      controller.abort(reason);
      throw reason;
    }
    const result = { statusCode: 500, headers: {}, body: body() };
    await assert.rejects(readResponseBody(result as never, controller.signal), reason);
  });

  test('is rejected with an invalid status', async () => {
    const message = await refusal((_, response) => response.writeHead(600).end('x'));
    assert.equal(message, 'The provider answered 600, which is not an HTTP status.');
  });

  test('may be a redirect without a body', async () => {
    const result = await call((_, response) => response.writeHead(304).end());
    assert.equal(result.status, 304);
  });
});
