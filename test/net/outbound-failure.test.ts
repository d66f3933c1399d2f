import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '../../harness/certificate.ts';
import { createOutbound } from '../../src/net/outbound.ts';
import { interrupted, OutboundFailure, unreached } from '../../src/net/outbound-failure.ts';

/** The failure of an `https:` call to the server. */
async function failureOf(server: Server): Promise<OutboundFailure> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const outbound = createOutbound({ allowedHosts: [] });
  const { port } = server.address() as AddressInfo;
  const error = await outbound.trusted(`https://127.0.0.1:${port}/`).catch((thrown) => thrown);
  await outbound.close();
  server.close();
  assert.ok(error instanceof OutboundFailure, String(error));
  return error;
}

describe('before the request is sent', () => {
  test('an untrusted certificate', async () => {
    const server = createTlsServer(selfSigned);
    server.on('tlsClientError', () => {});
    const { kind, message } = await failureOf(server);
    assert.equal(kind, 'unreached');
    assert.match(
      message,
      /^Could not reach the provider: its certificate was rejected \([A-Z_]+\)\.$/,
    );
  });

  test('a server without TLS', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    const { kind, message } = await failureOf(server);
    assert.equal(kind, 'unreached');
    assert.match(
      message,
      /^Could not reach the provider: the TLS handshake failed \([A-Z_0-9]+\)\.$/,
    );
  });

  test('a connection closed during the TLS handshake', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.destroy();
    });
    assert.equal((await failureOf(server)).kind, 'unreached');
  });
});

describe('messages', () => {
  const coded = (code: string) => Object.assign(new Error('0A00:error:ssl/record.c'), { code });
  for (const code of [
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'INVALID_PURPOSE',
  ]) {
    test(code, () => {
      const message = `Could not reach the provider: its certificate was rejected (${code}).`;
      assert.equal(unreached(coded(code)).message, message);
    });
  }

  for (const code of ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']) {
    test(code, () => {
      const why = `the TLS handshake failed (${code}).`;
      assert.equal(unreached(coded(code)).message, `Could not reach the provider: ${why}`);
    });
  }

  test('a later TLS error does not exclude that the request was sent', () => {
    const { kind, message } = interrupted(coded('ERR_SSL_BAD_RECORD_MAC'));
    assert.equal(kind, 'broken');
    assert.doesNotMatch(message, /record\.c/);
  });
});
