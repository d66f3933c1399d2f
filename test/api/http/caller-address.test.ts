import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { callerAddress } from '../../../src/api/http/caller-address.ts';

const peer = '192.0.2.1';

test('accepts an address from a proxy in its normal form, and ignores anything else', () => {
  const cases: [string, string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:5123', '203.0.113.9'],
    ['2001:DB8:0::9', '2001:db8::9'],
    ['[2001:db8::9]', '2001:db8::9'],
    ['[2001:db8::9]:5123', '2001:db8::9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['<script>alert(1)</script>', peer],
    ['203.0.113.9, 203.0.113.10', peer],
    ['203.0.113.999', peer],
    ['203.0.113.9:5123:1', peer],
    ['[203.0.113.9', peer],
    ['localhost', peer],
    ['unknown', peer],
    ['1'.repeat(10_000), peer],
    ['', peer],
  ];
  const socket = { remoteAddress: `::ffff:${peer}` } as Socket;
  for (const [ip, address] of cases) assert.equal(callerAddress({ ip, socket }), address, ip);
});

test('a closed connection has no address', () => {
  assert.equal(callerAddress({ ip: 'unknown', socket: {} as Socket }), null);
});
