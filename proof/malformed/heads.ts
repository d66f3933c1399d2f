import fc from 'fast-check';
import { bearer, bytes, json, request, type Sent, type Targets, utf8 } from './attack.ts';
import { bodyRoutes } from './bodies.ts';

/** Unusual paths, headers, methods and versions. */

export function paths(targets: Targets): fc.Arbitrary<Sent> {
  const part = fc.constantFrom(
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

export function headers(targets: Targets): fc.Arbitrary<Sent> {
  const name = fc.constantFrom(
    'Content-Type',
    'Accept',
    'Authorization',
    'Idempotency-Key',
    'If-Match',
    'Origin',
    'Cookie',
    'Referer',
    'X-Forwarded-For',
    'Expect',
    'Cueline-Workspace',
    'Content-Encoding',
    'User-Agent',
    'Upgrade',
    'Connection',
    '__proto__',
    'constructor',
    'Range',
    'TE',
    'Trailer',
    'Host',
    'Sec-Fetch-Site',
    'X-HTTP-Method-Override',
  );
  const value = fc.oneof(
    fc.constantFrom(
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
      '100-continue',
      'application/json; charset=utf-16',
      'application/json;charset="utf-8"',
      'multipart/form-data',
      'W/"1", "2",,',
      '"\xff"',
      'null',
      'http://x',
      '[::1]:x',
      '1.2.3.4, ::ffff:1',
      'gzip, br',
      'h2c',
      'websocket',
      'close, upgrade',
      'wsp_00000000000000000000000000',
      'cueline.session_token=%00.%ff',
      '=;=;',
      'POST',
      '__proto__',
    ),
    fc.string({ maxLength: 40, unit: 'binary-ascii' }),
  );
  const field = fc.tuple(name, value).map(([left, right]) => `${left}: ${right}`);
  return fc
    .tuple(bodyRoutes(targets), fc.array(field, { minLength: 1, maxLength: 6 }), fc.boolean())
    .map(([[method, path], fields, known]) => {
      const own = known ? [bearer(targets), json] : [];
      const sent = request(method, path, [...own, ...fields], utf8('{"variables":{"name":"x"}}'));
      return { ...sent, whole: false };
    });
}

export function methods({ agentId }: Targets): fc.Arbitrary<Sent> {
  const method = fc.constantFrom(
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
  const composed = fc.tuple(method, target, version).map(([name, path, protocol]) => {
    const known = /^(TRACE|CONNECT|QUERY|PROPFIND|LOCK|PURGE|SEARCH|OPTIONS|HEAD|PUT|DELETE)$/.test(
      name,
    );
    // Only CONNECT takes an authority as its target.
    const form = name === 'CONNECT' ? path === 'x:443' : path.startsWith('/');
    const whole = known && protocol === 'HTTP/1.1' && form;
    return bytes(`${name} ${path} ${protocol}\r\nHost: x\r\n\r\n`, name, { whole });
  });
  return fc.oneof(
    { weight: 5, arbitrary: composed },
    { weight: 1, arbitrary: fc.constantFrom(...heads) },
  );
}

const whole = (status: number): Partial<Sent> => ({ whole: true, status });
const end = 'Host: x\r\n\r\n';

/** Heads with their responses, or that need none. */
export const heads: readonly Sent[] = [
  bytes('GET /healthz\r\n'),
  bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  bytes(Buffer.from('1603010200010001fc0303', 'hex')),
  bytes(`\r\n\r\n\r\nGET /healthz HTTP/1.1\r\n${end}`, 'GET', whole(200)),
  bytes('GET /healthz HTTP/1.0\r\n\r\n', 'GET', whole(200)),
  bytes('hello\r\n\r\n', 'GET', whole(400)),
  bytes(`F/O / HTTP/1.1\r\n${end}`, 'GET', whole(400)),
  bytes(`GET / HTTP/9.9\r\n${end}`, 'GET', whole(400)),
  bytes(`GET / HTTP/1.1\r\nA b: c\r\n${end}`, 'GET', whole(400)),
  bytes(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`, 'GET', whole(431)),
  bytes('GET /nope HTTP/1.1\r\n\r\n', 'GET', whole(404)),
  bytes(`GET /nope HTTP/1.1\r\nExpect: something\r\n${end}`, 'GET', whole(404)),
  bytes(`CONNECT x:443 HTTP/1.1\r\n${end}`, 'CONNECT', whole(405)),
  bytes(`FOO /api/v1/agents HTTP/1.1\r\n${end}`, 'FOO', whole(405)),
  bytes(`get /healthz HTTP/1.1\r\n${end}`, 'get', whole(405)),
  bytes(`TRACE /healthz HTTP/1.1\r\n${end}`, 'TRACE', whole(405)),
  bytes(`QUERY /nope HTTP/1.1\r\n${end}`, 'QUERY', whole(404)),
  bytes(`QUERY /api/v1/prompts HTTP/1.1\r\n${end}`, 'QUERY', whole(405)),
  bytes(`QUERY /api/auth/sign-out HTTP/1.1\r\n${end}`, 'QUERY', whole(405)),
];
