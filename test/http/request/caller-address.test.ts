import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import {
  callerAddress,
  peerAddress,
  rangeMatcher,
} from '../../../src/http/request/caller-address.ts';

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
    ['[::ffff:203.0.113.9]:5123', '203.0.113.9'],
    ['64:ff9b::203.0.113.9', '203.0.113.9'],
    ['64:ff9b::7109', '0.0.113.9'],
    ['64:ff9b:1::7109', '64:ff9b:1::7109'],
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

test('the address of the connection ignores what a proxy names', () => {
  const socket = { remoteAddress: `::ffff:${peer}` } as Socket;
  assert.equal(peerAddress({ socket }), peer);
  assert.equal(peerAddress({ socket: {} as Socket }), null);
});

test('a range contains every form of its addresses, and nothing that is no address', () => {
  const contains = rangeMatcher(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1']);
  for (const inside of ['10.1.2.3', '10.1.2.3:443', '::ffff:10.1.2.3', '[::ffff:10.1.2.3]:443']) {
    assert.equal(contains(inside), true, inside);
  }
  for (const inside of ['192.0.2.1', '2001:DB8::9', '[2001:db8::9]:443', '::1']) {
    assert.equal(contains(inside), true, inside);
  }
  for (const outside of ['11.0.0.1', '192.0.2.2', '::2', '2001:db9::1', 'unknown', '']) {
    assert.equal(contains(outside), false, outside);
  }
  assert.equal(rangeMatcher(['::ffff:10.0.0.0/104'])('10.0.0.1'), true);
});
