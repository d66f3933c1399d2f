import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { resolvesTo } from '../../harness/resolves-to.ts';
import { createOutbound, type Outbound } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';
import { responseBytesMax } from '../../src/net/response-limits.ts';

let connections = 0;
let requests = 0;
let handle: RequestListener = (_, response) => response.end('{}');
const server = createServer((request, response) => {
  requests++;
  handle(request, response);
});
server.on('connection', () => connections++);
let port = 0;

before(async () => {
  // Listens on all addresses of the machine, so that any bypass is counted.
  server.listen(0);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

after(async () => {
  server.closeAllConnections();
  server.close();
});

async function failure(work: Promise<unknown>): Promise<OutboundFailure> {
  const error = await work.then(
    () => assert.fail('the call succeeded'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof OutboundFailure, String(error));
  return error;
}

describe('no packet is sent to', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '127.9.9.9',
    '0',
    '0.0.0.0',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '１２７。０。０。１',
    '%31%32%37.0.0.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'app.localhost',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'user@127.0.0.1',
    'example.com@127.0.0.1',
  ];
  for (const host of hosts) {
    for (const scheme of ['http', 'https', 'HTTPS']) {
      test(`${scheme}://${host}`, async () => {
        const outbound = createOutbound({ allowedHosts: [], resolve: resolvesTo('127.0.0.1') });
        const was = connections;
        const { kind } = await failure(outbound.guarded(`${scheme}://${host}:${port}/`));
        assert.equal(kind, 'refused');
        assert.equal(connections, was);
        await outbound.close();
      });
    }
  }
});

describe('a name that now resolves differently', () => {
  const cases: [string, string[]][] = [
    ['to loopback', ['127.0.0.1']],
    ['to loopback in IPv6', ['::1']],
    ['to a mapped address', ['::ffff:127.0.0.1']],
    ['to loopback after a public address', ['8.8.8.8', '127.0.0.1']],
    ['to loopback before a public address', ['127.0.0.1', '8.8.8.8']],
    ['to a metadata address', ['169.254.169.254']],
    ['to no address', []],
  ];
  for (const [what, addresses] of cases) {
    test(what, async () => {
      const outbound = createOutbound({ allowedHosts: [], resolve: resolvesTo(...addresses) });
      const was = connections;
      const url = `https://rebind.example.com:${port}/`;
      assert.equal((await failure(outbound.guarded(url))).kind, 'refused');
      assert.equal(connections, was);
      await outbound.close();
    });
  }
});

describe('an allowed host', () => {
  test('is reachable on its port only', async () => {
    const outbound = createOutbound({ allowedHosts: [`127.0.0.1:${port}`] });
    assert.equal((await outbound.guarded(`http://127.0.0.1:${port}/`)).status, 200);
    assert.equal((await failure(outbound.guarded('http://127.0.0.1:1/'))).kind, 'refused');
    await outbound.close();
  });

  test('is reachable by its name, with any resolved address', async () => {
    const outbound = createOutbound({ allowedHosts: ['localhost'] });
    assert.equal((await outbound.guarded(`http://localhost:${port}/`)).status, 200);
    await outbound.close();
  });

  test('is reachable for files as well, and no other host is', async () => {
    handle = (_, response) => response.end('file');
    const outbound = createOutbound({ allowedHosts: [`127.0.0.1:${port}`] });
    const response = await outbound.download(`http://127.0.0.1:${port}/`);
    assert.equal(await response.text(), 'file');
    const was = connections;
    assert.equal((await failure(outbound.download(`http://127.0.0.2:${port}/`))).kind, 'refused');
    assert.equal(connections, was);
    await outbound.close();
  });

  test('does not allow others: redirects are not followed', async () => {
    handle = (_, response) =>
      response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end();
    const outbound = createOutbound({ allowedHosts: [`127.0.0.1:${port}`] });
    const was = requests;
    assert.equal((await outbound.guarded(`http://127.0.0.1:${port}/`)).status, 302);
    assert.equal(requests, was + 1);
    await outbound.close();
  });
});

describe('a call', () => {
  const outbound = createOutbound({ allowedHosts: [] });
  /** For responses that never arrive: short timeouts that always expire. */
  const impatient = createOutbound({
    ...{ allowedHosts: [], timeouts: { connectMs: 50, silenceMs: 50 } },
    resolve: () => new Promise(() => {}),
  });
  const call = (init?: RequestInit) => outbound.trusted(`http://127.0.0.1:${port}/x?y=1`, init);
  after(async () => {
    await outbound.close();
    await impatient.close();
  });

  test('sends method, headers and body, but not a custom host', async () => {
    let seen: unknown;
    handle = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { host, 'x-a': a, 'accept-encoding': coding } = request.headers;
      seen = { method: request.method, url: request.url, host, a, coding, body };
      response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-b': '2' }).end('done');
    };
    const response = await call({
      method: 'POST',
      headers: { Host: 'elsewhere.example.com', 'X-A': '1' },
      body: 'text',
    });
    assert.deepEqual(seen, {
      method: 'POST',
      url: '/x?y=1',
      host: `127.0.0.1:${port}`,
      a: '1',
      coding: 'identity',
      body: 'text',
    });
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('x-b'), '2');
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(await response.text(), 'done');
  });

  test('fails if the response is too large', async () => {
    const piece = Buffer.alloc(1024 * 1024);
    handle = (_, response) => {
      response.on('error', () => {});
      const more = () => {
        while (response.write(piece));
        response.once('drain', more);
      };
      more();
    };
    assert.match(
      (await failure(call())).message,
      new RegExp(`more than ${responseBytesMax} bytes`),
    );
  });

  test('fails if the response stalls', async () => {
    handle = (_, response) => void response.writeHead(200).write('{');
    const url = `http://127.0.0.1:${port}/`;
    // If even the connection times out, the test tries again.
    let { kind } = await failure(impatient.trusted(url));
    while (kind === 'unreached') ({ kind } = await failure(impatient.trusted(url)));
    assert.equal(kind, 'timeout');
  });

  test('fails if the response is interrupted', async () => {
    handle = (_, response) =>
      response.writeHead(200).write('{', () => void response.socket?.resetAndDestroy());
    assert.equal((await failure(call())).kind, 'broken');
    handle = (_, response) =>
      response
        .writeHead(200, { 'content-length': '10' })
        .write('{', () => void response.socket?.end());
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('fails without a response', async () => {
    handle = (request) => request.socket.destroy();
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('fails if the server does not speak HTTP', async () => {
    handle = (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n');
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('fails if the port is closed', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port: free } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const { kind, message } = await failure(outbound.trusted(`http://127.0.0.1:${free}/`));
    assert.equal(kind, 'unreached');
    assert.match(message, /ECONNREFUSED/);
  });

  test('fails if the name lookup times out', async () => {
    const url = 'https://slow.example.com/';
    assert.equal((await failure(impatient.guarded(url))).kind, 'unreached');
  });

  test('fails if the name does not exist', async () => {
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND x'), { syscall: 'getaddrinfo' });
    const other = createOutbound({ allowedHosts: [], resolve: () => Promise.reject(error) });
    assert.equal((await failure(other.guarded('https://x.example.com/'))).kind, 'unreached');
    await other.close();
  });

  test('is aborted before, during and after the headers', async () => {
    const reason = new Error('enough');
    await assert.rejects(call({ signal: AbortSignal.abort(reason) }), reason);
    for (const headersSent of [false, true]) {
      const controller = new AbortController();
      handle = (_, response) => {
        if (headersSent) response.writeHead(200).write('{', () => controller.abort(reason));
        else controller.abort(reason);
      };
      await assert.rejects(call({ signal: controller.signal }), reason);
    }
  });

  test('supports http and https only', async () => {
    await assert.rejects(outbound.trusted('ftp://127.0.0.1/'));
    assert.equal((await failure(outbound.guarded('ftp://example.com/'))).kind, 'refused');
  });

  describe('whose stream is left before its end', () => {
    /** Reads one piece. */
    async function begin(other: Outbound): Promise<void> {
      const { body } = await other.streamed.trusted(`http://127.0.0.1:${port}/`);
      for await (const _ of body ?? []) break;
    }

    test('leaves its connection to later calls if the response ends', async () => {
      const other = createOutbound({ allowedHosts: [] });
      const left = Promise.withResolvers<void>();
      const sockets: unknown[] = [];
      handle = async (request, response) => {
        sockets.push(request.socket);
        response.write('data: 1\n\n');
        await left.promise;
        response.end();
      };
      await begin(other);
      left.resolve();
      for (let calls = 0; calls < 5; calls++) {
        await (await other.trusted(`http://127.0.0.1:${port}/`)).text();
      }
      assert.ok(sockets.indexOf(sockets[0], 1) > 0);
      await other.close();
    });

    test('closes its connection if the response goes on', async () => {
      const other = createOutbound({ allowedHosts: [] });
      const closed = Promise.withResolvers<void>();
      handle = (_, response) => {
        response.on('close', closed.resolve).write('data: 1\n\n');
      };
      await begin(other);
      await closed.promise;
      await other.close();
    });
  });

  test('fails when the client is closed, and no further call is sent', async () => {
    const other = createOutbound({ allowedHosts: [] });
    handle = () => void other.close();
    await failure(other.trusted(`http://127.0.0.1:${port}/`));
    const was = requests;
    assert.equal((await failure(other.trusted(`http://127.0.0.1:${port}/`))).kind, 'broken');
    assert.equal(requests, was);
  });
});
