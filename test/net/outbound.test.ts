import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Resolve } from '../../src/net/guard.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';
import { responseBytesMax } from '../../src/net/response-limits.ts';

const at =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

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
  // On every address of the machine, so that whatever way in a trick finds would be counted.
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
    () => assert.fail('it went through'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof OutboundFailure, String(error));
  return error;
}

describe('no packet leaves for', () => {
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
        const outbound = createOutbound({ allowedHosts: [], resolve: at('127.0.0.1') });
        const was = connections;
        const { kind } = await failure(outbound.guarded(`${scheme}://${host}:${port}/`));
        assert.equal(kind, 'refused');
        assert.equal(connections, was);
        await outbound.close();
      });
    }
  }
});

describe('a name that changes its mind', () => {
  const cases: [string, string[]][] = [
    ['is loopback now', ['127.0.0.1']],
    ['is loopback in IPv6', ['::1']],
    ['is a mapped address', ['::ffff:127.0.0.1']],
    ['has loopback among public ones', ['8.8.8.8', '127.0.0.1']],
    ['has loopback in front of public ones', ['127.0.0.1', '8.8.8.8']],
    ['is metadata', ['169.254.169.254']],
    ['has no address', []],
  ];
  for (const [what, addresses] of cases) {
    test(what, async () => {
      const outbound = createOutbound({ allowedHosts: [], resolve: at(...addresses) });
      const was = connections;
      const url = `https://rebind.example.com:${port}/`;
      assert.equal((await failure(outbound.guarded(url))).kind, 'refused');
      assert.equal(connections, was);
      await outbound.close();
    });
  }
});

describe('an allowed host', () => {
  test('is reached, on its port alone', async () => {
    const outbound = createOutbound({ allowedHosts: [`127.0.0.1:${port}`] });
    assert.equal((await outbound.guarded(`http://127.0.0.1:${port}/`)).status, 200);
    assert.equal((await failure(outbound.guarded('http://127.0.0.1:1/'))).kind, 'refused');
    await outbound.close();
  });

  test('is reached by its name, whatever it resolves to', async () => {
    const outbound = createOutbound({ allowedHosts: ['localhost'] });
    assert.equal((await outbound.guarded(`http://localhost:${port}/`)).status, 200);
    await outbound.close();
  });

  test('opens no way to others: a redirect comes back as it is', async () => {
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
  /** For what never comes: these times only run out. */
  const impatient = createOutbound({
    ...{ allowedHosts: [], timeouts: { connectMs: 50, silenceMs: 50 } },
    resolve: () => new Promise(() => {}),
  });
  const call = (init?: RequestInit) => outbound.trusted(`http://127.0.0.1:${port}/x?y=1`, init);
  after(async () => {
    await outbound.close();
    await impatient.close();
  });

  test('takes method, headers and body along, but no host of its own', async () => {
    let seen: unknown;
    handle = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { host, 'x-a': a, 'accept-encoding': coding } = request.headers;
      seen = { method: request.method, url: request.url, host, a, coding, body };
      response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-b': '2' }).end('done');
    };
    const answer = await call({
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
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('x-b'), '2');
    assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(await answer.text(), 'done');
  });

  test('ends when the answer is too large', async () => {
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

  test('ends when the answer falls silent', async () => {
    handle = (_, response) => void response.writeHead(200).write('{');
    const url = `http://127.0.0.1:${port}/`;
    // Where even connecting takes too long, the test is made again.
    let { kind } = await failure(impatient.trusted(url));
    while (kind === 'unreached') ({ kind } = await failure(impatient.trusted(url)));
    assert.equal(kind, 'timeout');
  });

  test('ends when the answer breaks off', async () => {
    handle = (_, response) =>
      response.writeHead(200).write('{', () => void response.socket?.resetAndDestroy());
    assert.equal((await failure(call())).kind, 'broken');
    handle = (_, response) =>
      response
        .writeHead(200, { 'content-length': '10' })
        .write('{', () => void response.socket?.end());
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('ends when it gets no answer', async () => {
    handle = (request) => request.socket.destroy();
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('ends when what answers does not speak HTTP', async () => {
    handle = (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n');
    assert.equal((await failure(call())).kind, 'broken');
  });

  test('ends when nobody listens', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port: free } = nobody.address() as AddressInfo;
    await new Promise((resolve) => nobody.close(resolve));
    const { kind, message } = await failure(outbound.trusted(`http://127.0.0.1:${free}/`));
    assert.equal(kind, 'unreached');
    assert.match(message, /ECONNREFUSED/);
  });

  test('ends when the name is not resolved in time', async () => {
    const url = 'https://slow.example.com/';
    assert.equal((await failure(impatient.guarded(url))).kind, 'unreached');
  });

  test('ends when the name has no answer', async () => {
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND x'), { syscall: 'getaddrinfo' });
    const other = createOutbound({ allowedHosts: [], resolve: () => Promise.reject(error) });
    assert.equal((await failure(other.guarded('https://x.example.com/'))).kind, 'unreached');
    await other.close();
  });

  test('ends with its signal, before, during and after the headers', async () => {
    const reason = new Error('enough');
    await assert.rejects(call({ signal: AbortSignal.abort(reason) }), reason);
    for (const begin of [false, true]) {
      const controller = new AbortController();
      handle = (_, response) => {
        if (begin) response.writeHead(200).write('{', () => controller.abort(reason));
        else controller.abort(reason);
      };
      await assert.rejects(call({ signal: controller.signal }), reason);
    }
  });

  test('goes over http and https alone', async () => {
    await assert.rejects(outbound.trusted('ftp://127.0.0.1/'));
    assert.equal((await failure(outbound.guarded('ftp://example.com/'))).kind, 'refused');
  });

  test('ends when the client is closed, and none goes out afterwards', async () => {
    const other = createOutbound({ allowedHosts: [] });
    handle = () => void other.close();
    await failure(other.trusted(`http://127.0.0.1:${port}/`));
    const was = requests;
    assert.equal((await failure(other.trusted(`http://127.0.0.1:${port}/`))).kind, 'broken');
    assert.equal(requests, was);
  });
});
