import fc from 'fast-check';
import { bodyBytesMax } from '../../src/http/contract/contract-limits.ts';
import { bearer, bytes, json, request, type Sent, type Targets, utf8 } from './attack.ts';
import { anything } from './texts.ts';

/** Invalid bodies, and bodies that are too large. */

const rawBodies = [
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
  '{"variables":{"name":"\\ud800"}}',
  '{"variables":{"name":"\\u0000"}}',
  '{"variables":{"\\u0000":1}}',
  '{"name":"a\\u0000b"}',
  '{"name":"x","description":"a\\u0000b"}',
  '{"name":"\\udc00"}',
  '{"variables":{"a":1e999}}',
  '{"user":"\\u0000"}',
  '{"variables":{"__proto__":{"a":1},"name":"x"}}',
  '{"constructor":{"prototype":{"a":1}},"name":"x"}',
  '{"variables":{},"variables":{"name":"x"}}',
  '{"name":"x","name":1}',
  '{"variables":[]}',
  '\0',
  '{"a":\0}',
];

/** Each invalid body where its fields would be known. */
export function invalidBodies(targets: Targets): readonly Sent[] {
  const paths = [`/api/v1/agents/${targets.agentId}/execute`, '/api/v1/prompts'];
  return paths.flatMap((path) =>
    rawBodies.map((text) => request('POST', path, [bearer(targets), json], utf8(text))),
  );
}

export function broken(targets: Targets): fc.Arbitrary<Sent> {
  const deep = (open: string, close: string) =>
    fc.integer({ min: 1, max: 60_000 }).map((n) => utf8(open.repeat(n) + close.repeat(n)));
  const raw = fc.constantFrom(...rawBodies).map(utf8);
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
    .tuple(bodyRoutes(targets), body)
    .map(([[method, path], sent]) => request(method, path, [bearer(targets), json], sent));
}

export function oversizes(targets: Pick<Targets, 'key'>): readonly Sent[] {
  const body = Buffer.concat([utf8('{"name":"x"}'), Buffer.alloc(bodyBytesMax, ' ')]);
  const start = `POST /api/v1/prompts HTTP/1.1\r\nHost: x\r\n${bearer(targets)}\r\n${json}\r\n`;
  const chunk = Buffer.concat([utf8('10000\r\n'), Buffer.alloc(65_536, ' '), utf8('\r\n')]);
  const chunks = Buffer.concat(Array<Buffer>(17).fill(chunk));
  const endless = Buffer.concat([utf8(`${start}Transfer-Encoding: chunked\r\n\r\n`), chunks]);
  const open = utf8(`${start}Transfer-Encoding: chunked\r\n\r\nc\r\n{"name":"x"}\r\n`);
  const whole = Buffer.concat([open, chunks, utf8('0\r\n\r\n')]);
  return [
    request('POST', '/api/v1/prompts', [bearer(targets), json], body, { status: 413 }),
    bytes(whole, 'POST', { whole: true, status: 413 }),
    bytes(endless, 'POST', { whole: true, status: 413 }),
    bytes(`${start}Content-Length: 4000000000\r\n\r\n`, 'POST', { whole: true, status: 413 }),
  ];
}

/** Routes with a body. Calls use a valid key, so that the service parses it. */
export function bodyRoutes({ agentId, promptId }: Targets): fc.Arbitrary<[string, string]> {
  return fc.constantFrom<[string, string]>(
    ['POST', `/api/v1/agents/${agentId}/execute`],
    ['POST', `/api/v1/agents/${agentId}/batches`],
    ['POST', '/v1/responses'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/api/v1/prompts'],
    ['PATCH', `/api/v1/agents/${agentId}`],
    ['POST', `/api/v1/prompts/${promptId}/versions`],
    ['POST', '/api/v1/keys'],
    ['POST', '/api/v1/invitations/accept'],
    ['POST', '/api/auth/sign-in/social'],
  );
}
