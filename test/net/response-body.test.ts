import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { request } from 'undici';
import { createOutbound } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';
import { readFileBody, readResponseBody } from '../../src/net/response-body.ts';
import {
  errorBytesMax,
  fileBytesMax,
  responseBytesMax,
  responseValuesMax,
} from '../../src/net/response-limits.ts';

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
    assert.match(
      await refusal((_, response) => response.end(body)),
      /more values than any model returns/,
    );
  });

  test('is read if the connection breaks after complete JSON, and no sooner', async () => {
    const broken = (body: string | Buffer, headers = {}): RequestListener => {
      return (_, response) => {
        response.writeHead(200, { 'content-length': body.length + 10, ...headers });
        response.write(body, () => response.destroy());
      };
    };
    const zipped = { 'content-encoding': 'gzip' };
    assert.equal(await (await call(broken('{"text":"all"}'))).text(), '{"text":"all"}');
    const whole = gzipSync('{"text":"all"}');
    assert.equal(await (await call(broken(whole, zipped))).text(), '{"text":"all"}');
    for (const [body, headers] of [
      ['{"text":"all"', {}],
      ['', {}],
      [whole.subarray(0, -10), zipped],
    ] as const) {
      await assert.rejects(call(broken(body, headers)), ({ kind }) => kind !== 'malformed');
    }
    const values = `{"a":[${'[],'.repeat(responseValuesMax)}0]}`;
    assert.match(await refusal(broken(values)), /more values than any model returns/);
  });

  test('is decompressed without a header that says so, or without its checksum', async () => {
    const body = '{"text":"all"}';
    const cases: [sent: Buffer, headers: Record<string, string>][] = [
      [gzipSync(body), {}],
      [zstdCompressSync(body), { 'content-encoding': 'identity' }],
      [gzipSync(body).subarray(0, -8), { 'content-encoding': 'gzip' }],
      [deflateSync(body).subarray(0, -4), { 'content-encoding': 'deflate' }],
    ];
    for (const [sent, headers] of cases) {
      const response = await call((_, res) => res.writeHead(200, headers).end(sent));
      assert.equal(await response.text(), body);
    }
    const half = gzipSync('{"text":"all').subarray(0, -8);
    const message = await refusal((_, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(half);
    });
    assert.match(message, /not valid gzip\./);
    const unsaid = await refusal((_, res) => res.end(half));
    assert.match(unsaid, /not valid gzip or zstd\./);
  });

  test('is read in the character set that it names, if it is not UTF-8', async () => {
    const latin = Buffer.from('{"text":"Grüße"}', 'latin1');
    const utf8 = Buffer.from('{"text":"Grüße"}');
    for (const [sent, charset] of [
      [latin, 'iso-8859-1'],
      [latin, '"Windows-1252"'],
      [utf8, 'iso-8859-1'],
      [utf8, 'none-such'],
    ] as const) {
      const headers = { 'content-type': `application/json; charset=${charset}` };
      const response = await call((_, res) => res.writeHead(200, headers).end(sent));
      assert.equal(await response.text(), '{"text":"Grüße"}');
    }
    const headers = { 'content-type': 'application/json; charset=none-such' };
    const response = await call((_, res) => res.writeHead(200, headers).end(latin));
    assert.equal(await response.text(), '{"text":"Gr\ufffd\ufffde"}');
  });

  test('may contain any text', async () => {
    const body = JSON.stringify({ text: '[{"a",'.repeat(responseValuesMax) });
    assert.equal(await (await call((_, response) => response.end(body))).text(), body);
  });

  const encodings: [name: string, encode: (text: string) => Buffer][] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['UTF-8', Buffer.from],
    ['gzip', Buffer.from],
    ['br', Buffer.from],
    ['deflate', Buffer.from],
    ['aws-chunked', Buffer.from],
    ['', Buffer.from],
  ];
  for (const [index, [name, encode]] of encodings.entries()) {
    test(`is decompressed whatever was requested: '${name}' (${index})`, async () => {
      // Long texts begin with another byte when compressed with Brotli.
      for (const body of ['{"a":1}', '[1]', `{"a":"${randomBytes(100_000).toString('hex')}"}`]) {
        const result = await call((_, response) =>
          response.writeHead(200, { 'content-encoding': name }).end(encode(body)),
        );
        assert.equal(await result.text(), body);
      }
    });
  }

  test('is rejected if it decompresses to more than the size limit', async () => {
    for (const [name, encode] of [
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      const message = await refusal((_, response) =>
        response
          .writeHead(200, { 'content-encoding': name })
          .end(encode(Buffer.alloc(responseBytesMax + 1, ' '))),
      );
      assert.match(message, /more than 33554432 bytes/);
    }
  });

  test('is rejected if its compressed data is corrupt', async () => {
    const corrupt = gzipSync('{"a":1}').fill(0xff, 12);
    const message = await refusal((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(corrupt),
    );
    assert.match(message, /not valid gzip/);
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

  for (const [name, encode] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['UTF-8', Buffer.from],
  ] as const) {
    test(`is decompressed (${name})`, async () => {
      const result = await call((_, response) =>
        response.writeHead(429, { ...headers, 'content-encoding': name }).end(encode('slow')),
      );
      assert.deepEqual([result.status, result.headers.get('retry-after')], [429, '7']);
      assert.equal(await result.text(), 'slow');
    });
  }

  test('is decompressed as far as it arrived', async () => {
    const text = randomBytes(2 * errorBytesMax).toString('hex');
    const result = await call((_, response) =>
      response.writeHead(503, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
    );
    const beginning = await result.text();
    assert.ok(beginning.length > 1_000 && text.startsWith(beginning), beginning.slice(0, 50));
  });

  test('keeps its status if its compressed data is corrupt', async () => {
    const corrupt = gzipSync('slow').fill(0xff, 3);
    const result = await call((_, response) =>
      response.writeHead(429, { 'content-encoding': 'gzip' }).end(corrupt),
    );
    assert.equal(result.status, 429);
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

describe('a file', () => {
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  async function download(listener: RequestListener): Promise<Response> {
    handle = listener;
    return readFileBody(await request(`http://${host()}/`), undefined);
  }

  test('may have any bytes, compressed or not', async () => {
    const bytes = Buffer.from(','.repeat(2 * responseValuesMax));
    for (const [encoding, body] of [
      ['identity', bytes],
      ['gzip', gzipSync(bytes)],
    ] as const) {
      const response = await download((_, answer) => {
        answer.writeHead(200, { 'content-type': 'image/png', 'content-encoding': encoding });
        answer.end(body);
      });
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
      assert.equal(response.headers.get('content-type'), 'image/png');
    }
  });

  test('is rejected with more than its limit, whether or not its length is stated', async () => {
    const piece = Buffer.alloc(1_048_576);
    const answers: RequestListener[] = [
      (_, answer) => answer.writeHead(200, { 'content-length': fileBytesMax + 1 }).end(),
      (_, answer) => {
        answer.on('error', () => {});
        for (let sent = 0; sent <= fileBytesMax; sent += piece.length) answer.write(piece);
        answer.end();
      },
      (_, answer) => {
        answer.writeHead(200, { 'content-encoding': 'gzip' });
        answer.end(gzipSync(Buffer.alloc(fileBytesMax + 1)));
      },
    ];
    for (const answer of answers) {
      await assert.rejects(
        download(answer),
        ({ kind, message }: OutboundFailure) =>
          kind === 'malformed' && message.includes(String(fileBytesMax)),
      );
    }
  });

  test('of exactly its limit is accepted', async () => {
    const response = await download((_, answer) => answer.end(Buffer.alloc(fileBytesMax)));
    assert.equal((await response.arrayBuffer()).byteLength, fileBytesMax);
  });

  test('of an error has no body', async () => {
    const response = await download((_, answer) => answer.writeHead(404).end('not here'));
    assert.deepEqual([response.status, await response.text()], [404, '']);
  });
});
