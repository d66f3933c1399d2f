import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../../harness/certificate.ts';
import { createOutbound, type Outbound } from '../../src/net/outbound.ts';
import { OutboundFailure } from '../../src/net/outbound-failure.ts';

/** What the proxy was asked for, and the status that it answers with. */
let asked: { line: string; credentials: string | undefined }[] = [];
let status = 200;

const provider = createServer((request, response) => {
  response.end(JSON.stringify({ host: request.headers.host, path: request.url }));
});
const secure = createTlsServer(selfSigned, (_, response) => response.end('{"tls":true}'));
const proxy = createServer((request, response) => {
  asked.push({
    line: `${request.method} ${request.url}`,
    credentials: request.headers['proxy-authorization'],
  });
  response.statusCode = status;
  response.end('{"by":"proxy"}');
});
proxy.on('connect', (request, socket) => {
  asked.push({
    line: `CONNECT ${request.url}`,
    credentials: request.headers['proxy-authorization'],
  });
  if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
  const through = connect(portOf(secure), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    through.pipe(socket).pipe(through);
  });
  socket.on('error', () => through.destroy());
  return through;
});
const servers = [provider, secure, proxy];

before(async () => {
  setDefaultCACertificates([...rootCertificates, selfSigned.cert]);
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
});
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  asked = [];
  status = 200;
});

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

async function through<T>(
  options: { noProxy?: string; port?: number; resolve?: () => Promise<never> },
  work: (outbound: Outbound) => Promise<T>,
): Promise<T> {
  const at = `http://user:pass%40word@127.0.0.1:${options.port ?? portOf(proxy)}`;
  const outbound = createOutbound({
    allowedHosts: [`127.0.0.1:${portOf(provider)}`],
    resolve: options.resolve ?? (async () => [{ address: '127.0.0.1', family: 4 }]),
    proxies: { http: at, https: at, noProxy: options.noProxy ?? '' },
  });
  try {
    return await work(outbound);
  } finally {
    await outbound.close();
  }
}

const credentials = `Basic ${Buffer.from('user:pass@word').toString('base64')}`;

test('https calls go through a tunnel, and the proxy resolves the name', async () => {
  const url = 'https://provider.example/v1/models';
  const resolve = () => assert.fail('the name was resolved');
  const response = await through({ resolve }, (outbound) => outbound.guarded(url));
  assert.deepEqual(await response.json(), { tls: true });
  assert.deepEqual(asked, [{ line: 'CONNECT provider.example:443', credentials }]);
});

test('plain http calls are forwarded by the proxy', async () => {
  const url = `http://127.0.0.1:${portOf(provider)}/v1/models`;
  for (const kind of ['guarded', 'trusted'] as const) {
    asked = [];
    const response = await through({}, (outbound) =>
      outbound[kind](url, { method: 'POST', body: '{}' }),
    );
    assert.deepEqual(await response.json(), { by: 'proxy' });
    assert.deepEqual(asked, [{ line: `POST ${url}`, credentials }]);
  }
});

test('NO_PROXY calls directly, with the address guard', async () => {
  const url = `http://127.0.0.1:${portOf(provider)}/v1/models`;
  const response = await through({ noProxy: 'other.lan,127.0.0.1' }, (outbound) =>
    outbound.guarded(url),
  );
  assert.deepEqual(await response.json(), { host: new URL(url).host, path: '/v1/models' });
  await through({ noProxy: '.example' }, (outbound) =>
    assert.rejects(outbound.guarded(`https://provider.example:${portOf(secure)}/`), {
      kind: 'refused',
    }),
  );
  assert.deepEqual(asked, []);
});

test('a private address is refused by its URL, proxy or not', async () => {
  await through({}, (outbound) =>
    assert.rejects(outbound.guarded('https://169.254.169.254/'), { kind: 'refused' }),
  );
  assert.deepEqual(asked, []);
});

test('a proxy that is away or refuses counts as not reached: nothing was sent', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const port = portOf(closed);
  closed.close();
  const urls = ['https://provider.example/', `http://127.0.0.1:${portOf(provider)}/`];
  for (const url of urls) {
    const error = await through({ port }, (outbound) => failure(outbound.guarded(url)));
    assert.match(error.message, /^Could not reach the provider: .*ECONNREFUSED/);
    assert.equal(error.kind, 'unreached');
  }
  for (const [refusal, reached] of [
    [407, urls],
    [403, urls.slice(0, 1)],
  ] as const) {
    status = refusal;
    for (const url of reached) {
      const error = await through({}, (outbound) => failure(outbound.guarded(url)));
      assert.equal(
        error.message,
        `Could not reach the provider: the proxy answered with status ${refusal}.`,
      );
      assert.equal(error.kind, 'unreached');
    }
  }
});

async function failure(work: Promise<unknown>): Promise<OutboundFailure> {
  const error = await work.then(
    () => assert.fail('it went through'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof OutboundFailure, String(error));
  return error;
}
