import { gzipSync } from 'node:zlib';
import { bearer, bytes, json, request, type Sent, type Targets, utf8 } from './attack.ts';

/** Ambiguous message framing, as in request smuggling. */
export function framings(targets: Pick<Targets, 'key'>): readonly Sent[] {
  const path = '/api/v1/prompts';
  const start = `POST ${path} HTTP/1.1\r\nHost: x\r\n${bearer(targets)}\r\n${json}\r\n`;
  const body = '{"name":"x"}';
  const n = body.length;
  const chunked = `${n.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const inner = 'GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n';
  const te = 'Transfer-Encoding: chunked\r\n';
  const refused = { whole: true, status: 400 };
  return [
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
    bytes(`POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${body}`, 'POST', refused),
    bytes(
      'POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nF/O / HTTP/1.1\r\nHost: x\r\n\r\n',
      'POST',
      refused,
    ),
    ...['gzip, chunked', 'x, chunked'].map((coding) =>
      bytes(`${start}Transfer-Encoding: ${coding}\r\n\r\n${chunked}`, 'POST', {
        whole: true,
        status: 415,
      }),
    ),
    bytes(`${start}Transfer-Encoding: Chunked\r\n\r\n${chunked}`, 'POST', {
      whole: true,
      status: 201,
    }),
  ];
}
