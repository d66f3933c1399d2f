import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { endpoints } from '../../src/contract/index.ts';
import { bodyBytesMax } from '../../src/contract/limits.ts';
import { type Attack, bytes, request, type Sent } from './attack.ts';
import { anything, nearly } from './texts.ts';

/** Malformed requests of every kind that we could think of. */

export interface Targets {
  readonly key: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly apiKeyId: string;
  readonly userId: string;
}

const all: readonly Endpoint[] = Object.values(endpoints);

export function attacks(targets: Targets): fc.Arbitrary<Attack> {
  const one = (arbitrary: fc.Arbitrary<Sent>, what: string) =>
    fc.record({
      what: fc.constant(what),
      requests: arbitrary.map((sent) => [sent]),
      afterwards: fc.constant('read' as const),
      pauseMs: fc.constant(0),
    });
  const called = nearValid(targets);
  return fc.oneof(
    { weight: 40, arbitrary: one(called, 'a call that is nearly valid') },
    { weight: 12, arbitrary: one(broken(targets), 'a body that is none') },
    { weight: 10, arbitrary: one(paths(targets), 'an odd path or query') },
    { weight: 8, arbitrary: one(headers(targets), 'odd headers') },
    { weight: 12, arbitrary: one(framing(targets), 'odd framing') },
    { weight: 6, arbitrary: one(methods(targets), 'an odd method or version') },
    { weight: 1, arbitrary: one(oversize(targets), 'too large a body') },
    { weight: 4, arbitrary: pipelined(called) },
    { weight: 4, arbitrary: piecemeal(called) },
  );
}

function bearer({ key }: Targets): string {
  return `Authorization: Bearer ${key}`;
}

const json = 'Content-Type: application/json';
const utf8 = (text: string) => Buffer.from(text, 'utf8');

function nearValid(targets: Targets): fc.Arbitrary<Sent> {
  const odd = fc.constantFrom(
    'x',
    '%00',
    '%ff',
    '..',
    '%2e%2e',
    '__proto__',
    'a'.repeat(9_000),
    '%F0%9F%98%80',
    'agt_1',
  );
  return fc.oneof(
    ...all.map((endpoint) => {
      const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const known = (name: string) =>
        (targets as unknown as Record<string, string | undefined>)[name] ?? 'own';
      const params = names.map((name) =>
        fc.oneof({ weight: 9, arbitrary: fc.constant(known(name)) }, { weight: 1, arbitrary: odd }),
      );
      const body = endpoint.body ? nearly(endpoint.body) : fc.constantFrom(null, '{}', 'x');
      return fc.tuple(fc.tuple(...params), body, query(endpoint)).map(([values, text, search]) => {
        const path = names.reduce(
          (made, name, index) => made.replace(`{${name}}`, values[index] ?? ''),
          endpoint.path as string,
        );
        const sent = text === null ? null : utf8(text);
        return request(endpoint.method, path + search, [bearer(targets), json], sent);
      });
    }),
  );
}

function query({ query: schema }: Endpoint): fc.Arbitrary<string> {
  const names = [
    ...Object.keys(schema?.properties ?? {}),
    'unknown',
    '__proto__',
    'limit',
    '',
    'a[b]',
  ];
  const values = fc.constantFrom(
    ...[
      '1',
      '0',
      '-1',
      '101',
      '1e9',
      '99999999999999999999',
      '',
      '%00',
      '%',
      '%zz',
      '%ff%fe',
      '+',
      '2026-11-21',
      'success',
    ],
    ...[
      'processing',
      '2026-99-99',
      'x'.repeat(300),
      '%ED%A0%80',
      'true',
      'NaN',
      '%22',
      '%27',
      'minute',
      'toString',
    ],
  );
  const pair = fc.tuple(fc.constantFrom(...names), values).map((both) => both.join('='));
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    {
      weight: 1,
      arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => `?${pairs.join('&')}`),
    },
  );
}

/** Where bodies go; with a valid key, so that they are looked at. */
function bodied({ agentId, promptId }: Targets): fc.Arbitrary<[string, string]> {
  return fc.constantFrom<[string, string]>(
    ['POST', `/api/v1/agents/${agentId}/execute`],
    ['POST', '/api/v1/prompts'],
    ['PATCH', `/api/v1/agents/${agentId}`],
    ['POST', `/api/v1/prompts/${promptId}/versions`],
    ['POST', '/api/v1/keys'],
    ['POST', '/api/v1/invitations/accept'],
    ['POST', '/api/auth/sign-in/social'],
  );
}

function broken(targets: Targets): fc.Arbitrary<Sent> {
  const deep = (open: string, close: string) =>
    fc.integer({ min: 1, max: 60_000 }).map((n) => utf8(open.repeat(n) + close.repeat(n)));
  const raw = fc
    .constantFrom(
      ...[
        '{',
        '}',
        '[',
        '',
        ' ',
        '""',
        '{"a"}',
        '{"a":}',
        '{,}',
        '[1,]',
        "{'a':1}",
        '{"a":1}}',
        '//',
        '\ufeff{}',
        'null',
      ],
      ...[
        '{"variables":{"name":"\\ud800"}}',
        '{"variables":{"name":"\\u0000"}}',
        '{"variables":{"\\u0000":1}}',
      ],
      ...[
        '{"name":"a\\u0000b"}',
        '{"name":"\\udc00"}',
        '{"variables":{"a":1e999}}',
        '{"user":"\\u0000"}',
      ],
      ...[
        '{"variables":{"__proto__":{"a":1},"name":"x"}}',
        '{"constructor":{"prototype":{"a":1}},"name":"x"}',
      ],
      ...[
        '{"variables":{},"variables":{"name":"x"}}',
        '{"name":"x","name":1}',
        '{"variables":[]}',
        '\0',
        '{"a":\0}',
      ],
    )
    .map(utf8);
  const notUtf8 = fc
    .constantFrom(
      'c328',
      'eda080',
      'edbfbf',
      'f4908080',
      'ff',
      'fe',
      'c0af',
      'e2',
      'f09f98',
      'efbbbf',
    )
    .map((hex) =>
      Buffer.concat([utf8('{"variables":{"name":"'), Buffer.from(hex, 'hex'), utf8('"}}')]),
    );
  const anyBytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  const cut = fc
    .tuple(anything, fc.nat({ max: 60 }))
    .map(([text, n]) => utf8(`{"variables":${text}}`).subarray(0, n));
  const body = fc.oneof(
    raw,
    notUtf8,
    anyBytes,
    cut,
    deep('[', ']'),
    deep('{"a":', '}'),
    deep('[', ''),
  );
  return fc
    .tuple(bodied(targets), body)
    .map(([[method, path], sent]) => request(method, path, [bearer(targets), json], sent));
}

function paths(targets: Targets): fc.Arbitrary<Sent> {
  const part = fc.constantFrom(
    ...[
      'api',
      'v1',
      'agents',
      targets.agentId,
      'executions',
      targets.executionId,
      'execute',
      'docs',
      'metrics',
      '',
    ],
    ...[
      '.',
      '..',
      '%2e%2e',
      '%252e',
      '%00',
      '%',
      '%2',
      '%zz',
      '%c0%ae',
      '%ff',
      '\xe9',
      '\xff\xfe',
      '*',
      ':agentId',
    ],
    ...[
      '{agentId}',
      '__proto__',
      'constructor',
      '\\',
      ';a=b',
      'a'.repeat(10_000),
      '@',
      '%0d%0aX: y',
      '~',
      '|',
      '"',
      '<',
    ],
    ...[
      'auth',
      'sign-in',
      'get-session',
      'healthz',
      'openapi.json',
      '\x7f',
      '[',
      ']',
      '%F0%9F%92%A9',
      '%u0041',
      '&',
      '=',
    ],
  );
  const target = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
    fc.tuple(part, part).map(([path, search]) => `/api/v1/${path}?${search}=${search}#${search}`),
    fc.constantFrom(
      '*',
      'http://x/healthz',
      'http://',
      '//',
      '///',
      '?',
      '/?',
      'x',
      'https://[::1',
      '/\\',
      '/%5c',
    ),
  );
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH');
  return fc.tuple(method, target).map(([name, path]) => {
    const head = `${name} ${path} HTTP/1.1\r\nHost: x\r\n${bearer(targets)}\r\n\r\n`;
    return bytes(head, name);
  });
}

function headers(targets: Targets): fc.Arbitrary<Sent> {
  const name = fc.constantFrom(
    ...[
      'Content-Type',
      'Accept',
      'Authorization',
      'Idempotency-Key',
      'If-Match',
      'Origin',
      'Cookie',
      'Referer',
    ],
    ...[
      'X-Forwarded-For',
      'Expect',
      'Cueline-Workspace',
      'Content-Encoding',
      'User-Agent',
      'Upgrade',
      'Connection',
    ],
    ...[
      '__proto__',
      'constructor',
      'Range',
      'TE',
      'Trailer',
      'Host',
      'Sec-Fetch-Site',
      'X-HTTP-Method-Override',
    ],
  );
  const value = fc.oneof(
    fc.constantFrom(
      ...[
        '',
        ' ',
        'a',
        '\xff\xfe',
        '"',
        ';',
        'a\tb',
        'x'.repeat(3_000),
        'x'.repeat(20_000),
        'Bearer',
        'Bearer  ',
        '*',
      ],
      ...[
        '100-continue',
        'application/json; charset=utf-16',
        'application/json;charset="utf-8"',
        'multipart/form-data',
      ],
      ...[
        'W/"1", "2",,',
        '"\xff"',
        'null',
        'http://x',
        '[::1]:x',
        '1.2.3.4, ::ffff:1',
        'gzip, br',
        'h2c',
        'websocket',
      ],
      ...[
        'close, upgrade',
        'wsp_00000000000000000000000000',
        'cueline.session_token=%00.%ff',
        '=;=;',
        'POST',
        '__proto__',
      ],
    ),
    fc.string({ maxLength: 40, unit: 'binary-ascii' }),
  );
  const field = fc.tuple(name, value).map(([left, right]) => `${left}: ${right}`);
  return fc
    .tuple(bodied(targets), fc.array(field, { minLength: 1, maxLength: 6 }), fc.boolean())
    .map(([[method, path], fields, known]) => {
      const own = known ? [bearer(targets), json] : [];
      const sent = request(method, path, [...own, ...fields], utf8('{"variables":{"name":"x"}}'));
      return { ...sent, whole: false };
    });
}

/** Above all: two readers of the same bytes must not see different requests in them. */
function framing(targets: Targets): fc.Arbitrary<Sent> {
  const path = '/api/v1/prompts';
  const start = `POST ${path} HTTP/1.1\r\nHost: x\r\n${bearer(targets)}\r\n${json}\r\n`;
  const body = '{"name":"x"}';
  const n = body.length;
  const chunked = `${n.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const inner = 'GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n';
  const te = 'Transfer-Encoding: chunked\r\n';
  const refused = { whole: true, status: 400 };
  return fc.constantFrom(
    bytes(
      `${start}Content-Length: ${n}\r\nContent-Length: ${n + 1}\r\n\r\n${body}${inner}`,
      'POST',
      refused,
    ),
    bytes(`${start}Content-Length: ${n}\r\n${te}\r\n${chunked}`, 'POST', refused),
    bytes(`${start}${te}Content-Length: 3\r\n\r\n0\r\n\r\n${inner}`, 'POST', refused),
    bytes(`${start}Transfer-Encoding: xchunked\r\n\r\n${chunked}`, 'POST', refused),
    bytes(
      `${start}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}${inner}`,
      'POST',
      refused,
    ),
    bytes(`${start}Transfer-Encoding : chunked\r\n\r\n${chunked}${inner}`, 'POST', refused),
    bytes(`${start}Content-Length: +${n}\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start}Content-Length: -1\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start}Content-Length: 0x1a\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start}Content-Length: ${n}, ${n}\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start}Content-Length: 99999999999999999999\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start}X: a\r\n folded\r\nContent-Length: ${n}\r\n\r\n${body}`, 'POST'),
    bytes(`${start}X: a\nContent-Length: ${n}\n\n${body}`, 'POST'),
    bytes(`${start}X: a\rY: b\r\nContent-Length: ${n}\r\n\r\n${body}`, 'POST'),
    bytes(`${start}X: \0\r\nContent-Length: ${n}\r\n\r\n${body}`, 'POST', refused),
    bytes(`${start} : x\r\n\r\n`, 'POST', refused),
    bytes(`${start}${te}\r\nzz\r\n${body}`, 'POST'),
    bytes(
      `${start}${te}\r\n${n.toString(16)};a="${'b'.repeat(30_000)}"\r\n${body}\r\n0\r\n\r\n`,
      'POST',
    ),
    bytes(`${start}${te}\r\nffffffffffffffffff\r\n${body}`, 'POST'),
    bytes(
      `${start}${te}\r\n${n.toString(16)}\r\n${body}\r\n0\r\nContent-Length: 5\r\nHost: y\r\n\r\n`,
      'POST',
      { whole: true },
    ),
    bytes(`${start}${te}\r\n${chunked}`, 'POST', { whole: true, status: 201 }),
    bytes(`${start}${te}${te}\r\n${chunked}`, 'POST'),
    bytes(`${start}Content-Encoding: gzip\r\nContent-Length: ${n}\r\n\r\n${body}`, 'POST', {
      whole: true,
      status: 415,
    }),
    request('POST', path, [bearer(targets), json, 'Content-Encoding: gzip'], gzipSync(body), {
      status: 415,
    }),
    request(
      'POST',
      path,
      [bearer(targets), 'Content-Type: multipart/form-data; boundary=x'],
      utf8('--x--'),
      { status: 415 },
    ),
    bytes(`${start}Expect: 100-continue\r\nContent-Length: ${n}\r\n\r\n${body}`, 'POST', {
      whole: true,
      status: 201,
    }),
    bytes(`${start}Content-Length: ${n + 5}\r\n\r\n${body}`, 'POST'),
    bytes(`GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`),
    bytes(`GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /`, 'GET', {
      whole: true,
    }),
    bytes(`GET /healthz HTTP/1.1\r\n${'A: b\r\n'.repeat(3_000)}\r\n`),
    bytes(
      `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n`,
      'GET',
      { whole: true, status: 200 },
    ),
    bytes(
      `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
      'GET',
      { whole: true, status: 200 },
    ),
  );
}

function methods({ agentId }: Targets): fc.Arbitrary<Sent> {
  const method = fc.constantFrom(
    ...[
      'TRACE',
      'CONNECT',
      'QUERY',
      'PROPFIND',
      'LOCK',
      'PURGE',
      'SEARCH',
      'LINK',
      'SOURCE',
      'get',
      'Get',
      'post',
      'PRI',
    ],
    ...[
      'OPTIONS',
      'HEAD',
      'PUT',
      'DELETE',
      'X',
      'GET\t',
      'G',
      'M-SEARCH',
      'ACL',
      'BIND',
      'MKCOL',
      'NOTIFY',
      'REBIND',
    ],
  );
  const target = fc.constantFrom(
    '/',
    '/healthz',
    '/api/v1/prompts',
    `/api/v1/agents/${agentId}`,
    '/api/auth/sign-out',
    '/nope',
    '*',
    'x:443',
  );
  const version = fc.constantFrom(
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/1.2',
    'HTTP/0.9',
    'HTTP/2.0',
    'http/1.1',
    '',
  );
  const special = fc.constantFrom(
    bytes('GET /healthz\r\n'),
    bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    bytes(Buffer.from('1603010200010001fc0303', 'hex')),
    bytes('\r\n\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 'GET', {
      whole: true,
      status: 200,
    }),
    bytes('GET /healthz HTTP/1.0\r\n\r\n', 'GET', { whole: true, status: 200 }),
  );
  const composed = fc.tuple(method, target, version).map(([name, path, protocol]) => {
    const known = /^(TRACE|CONNECT|QUERY|PROPFIND|LOCK|PURGE|SEARCH|OPTIONS|HEAD|PUT|DELETE)$/.test(
      name,
    );
    // Only CONNECT names an authority, and only OPTIONS nothing.
    const form = name === 'CONNECT' ? path === 'x:443' : path.startsWith('/');
    const whole = known && protocol === 'HTTP/1.1' && form;
    return bytes(`${name} ${path} ${protocol}\r\nHost: x\r\n\r\n`, name, { whole });
  });
  return fc.oneof({ weight: 5, arbitrary: composed }, { weight: 1, arbitrary: special });
}

function oversize(targets: Targets): fc.Arbitrary<Sent> {
  const body = Buffer.concat([utf8('{"name":"x"}'), Buffer.alloc(bodyBytesMax, ' ')]);
  const start = `POST /api/v1/prompts HTTP/1.1\r\nHost: x\r\n${bearer(targets)}\r\n${json}\r\n`;
  const chunk = Buffer.concat([utf8('10000\r\n'), Buffer.alloc(65_536, ' '), utf8('\r\n')]);
  const chunks = Buffer.concat(Array<Buffer>(17).fill(chunk));
  const endless = Buffer.concat([utf8(`${start}Transfer-Encoding: chunked\r\n\r\n`), chunks]);
  const open = utf8(`${start}Transfer-Encoding: chunked\r\n\r\nc\r\n{"name":"x"}\r\n`);
  const whole = Buffer.concat([open, chunks, utf8('0\r\n\r\n')]);
  return fc.constantFrom(
    request('POST', '/api/v1/prompts', [bearer(targets), json], body, { status: 413 }),
    bytes(whole, 'POST', { whole: true, status: 413 }),
    bytes(endless, 'POST', { whole: true, status: 413 }),
    bytes(`${start}Content-Length: 4000000000\r\n\r\n`, 'POST', { whole: true, status: 413 }),
  );
}

function pipelined(called: fc.Arbitrary<Sent>): fc.Arbitrary<Attack> {
  return fc.record({
    what: fc.constant('several calls at once'),
    requests: fc.array(called, { minLength: 2, maxLength: 6 }),
    afterwards: fc.constantFrom('read' as const, 'half-close' as const),
    pauseMs: fc.constant(0),
  });
}

/** A call in pieces, of which the last may never come. */
function piecemeal(called: fc.Arbitrary<Sent>): fc.Arbitrary<Attack> {
  return fc
    .tuple(called, fc.integer({ min: 2, max: 8 }), fc.constantFrom('whole', 'half-close', 'abort'))
    .map(([sent, parts, fate]): Attack => {
      const text = Buffer.concat(sent.pieces).subarray(0, 100_000);
      const size = Math.ceil(text.length / parts);
      const pieces = Array.from({ length: parts }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );
      const whole = fate === 'whole' && text.length < 100_000;
      return {
        what: `a call in pieces, ${fate}`,
        requests: [{ ...sent, whole, pieces: whole ? pieces : pieces.slice(0, -1) }],
        afterwards: fate === 'abort' ? 'abort' : whole ? 'read' : 'half-close',
        pauseMs: 3,
      };
    });
}
