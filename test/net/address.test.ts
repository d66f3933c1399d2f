import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/net/address.ts';

/** First and last address of every denied IPv4 range. */
const denied4 = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
] as const;

const denied6 = [
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::8.8.8.8', 'IPv4-compatible, though public'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:7f00:1', 'IPv4-mapped, in hexadecimal'],
  ['::ffff:8.8.8.8', 'IPv4-mapped, though public'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated'],
  ['64:ff9b::7f00:1', 'NAT64'],
  ['64:ff9b::808:808', 'NAT64, though public'],
  ['64:ff9b:1::a00:1', 'network-specific NAT64'],
  ['100::1', 'discard only'],
  ['2001::1', 'Teredo'],
  ['2001:0:7f00:1::', 'Teredo with an IPv4 server'],
  ['2001:2::1', 'benchmarks'],
  ['2001:3::1', 'AMT'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHID 2'],
  ['2001:1ff:ffff::1', 'protocol assignments, last address'],
  ['2001:db8::1', 'documentation'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation, last address'],
  ['2002::1', '6to4'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['2002:808:808::1', '6to4, though public'],
  ['2620:4f:8000::1', 'AS112'],
  ['3fff::1', 'documentation'],
  ['3fff:fff:ffff::1', 'documentation, last address'],
  ['4000::1', 'not global unicast'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00::1', 'unique local'],
  ['fd00:ec2::254', 'AWS metadata'],
  ['fd20:ce::254', 'Google metadata'],
  ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'unique local, last address'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['2606:4700::1%eth0', 'public with a zone'],
  ['febf:ffff::1', 'link-local, last address'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['ff0e::1', 'multicast, global'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last address'],
] as const;

const public4 = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['126.255.255.255', '128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255'],
  ...['169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.0.3.0', '192.167.0.1'],
  ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.112.1', '203.0.114.0'],
];
const public6 = ['2606:4700::6810:1', '2a00:1450::1', '2001:200::1', '2001:4860::8888', '3ffe::1'];

const malformed = [
  '',
  'localhost',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '[::1]',
  '1.2.3',
  '::g',
  ' ',
];

describe('public addresses', () => {
  for (const [first, last] of denied4) {
    for (const address of new Set([first, last])) {
      test(`${address} is not public`, () => assert.equal(isPublicAddress(address), false));
      test(`::ffff:${address} is not public`, () =>
        assert.equal(isPublicAddress(`::ffff:${address}`), false));
      test(`::${address} is not public`, () =>
        assert.equal(isPublicAddress(`::${address}`), false));
      test(`64:ff9b::${address} is not public`, () =>
        assert.equal(isPublicAddress(`64:ff9b::${address}`), false));
    }
  }
  for (const [address, why] of denied6) {
    test(`${address} is not public: ${why}`, () => assert.equal(isPublicAddress(address), false));
  }
  for (const address of [...public4, ...public6]) {
    test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
  }
  for (const text of malformed) {
    test(`'${text}' is not an address`, () => assert.equal(isPublicAddress(text), false));
  }

  test('any text returns a boolean', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === 'boolean'));
    fc.assert(fc.property(fc.ipV6(), (text) => typeof isPublicAddress(text) === 'boolean'));
  });

  test('IPv4 inside the common IPv6 wrappers is never public', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        (inner) =>
          !isPublicAddress(`::ffff:${inner}`) &&
          !isPublicAddress(`::${inner}`) &&
          !isPublicAddress(`64:ff9b::${inner}`),
      ),
    );
  });
});
