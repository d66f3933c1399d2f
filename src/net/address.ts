import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Decides which addresses are public. Outbound calls may reach only those: not this machine under any of its addresses, not
 * its network, not the metadata service of a cloud.
 *
 * IPv4 is allowed except for the special ranges of the IANA registry. IPv6 is denied except for global unicast (2000::/3).
 * This denies every form that embeds an IPv4 address (mapped, compatible, NAT64, translated) without parsing it.
 */

/** Whether an IP address, as returned by a resolver, is public. False for any other text. */
export function isPublicAddress(address: string): boolean {
  // A zone id (`fe80::1%eth0`) passes `isIP` but names an interface of this machine.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !denied.check(address, 'ipv4') && !isOwn(address);
    case 6:
      return global.check(address, 'ipv6') && !denied.check(address, 'ipv6') && !isOwn(address);
    default:
      return false;
  }
}

/** Listing the interfaces takes almost a millisecond, so the list is cached this long. */
const ownAddressesMs = 10_000;
let ownAddresses: ReadonlySet<string> = new Set();
let ownAddressesAt = Number.NEGATIVE_INFINITY;

/**
 * Whether the address belongs to this machine. A call to its own public address would bypass the firewall that protects
 * local services.
 */
function isOwn(address: string): boolean {
  const now = performance.now();
  if (now - ownAddressesAt > ownAddressesMs) {
    ownAddressesAt = now;
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    ownAddresses = new Set(all.map((each) => each.address));
  }
  return ownAddresses.has(address.toLowerCase());
}

const denied = blockList([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and Alibaba's metadata at 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's wire server: public, but reachable only from Azure machines
  '169.254.0.0/16', // link-local, and the metadata of most clouds at 169.254.169.254
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and Oracle's metadata at 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '2001::/23', // protocol assignments: Teredo, benchmarks, AMT, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: embeds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]);

const global = blockList(['2000::/3']);

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', prefix] = subnet.split('/');
    list.addSubnet(net, Number(prefix), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
