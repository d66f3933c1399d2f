import { type GuardCase, ownAddress, publicAddress, publicAddress6 } from './guard-case.ts';

/** Names: their addresses, and changes of them between the check, the call and the connection. */

let names = 0;
/** A new name, so that cases do not share lookups. */
const fresh = () => `p${++names}.example.com`;

/** A name that always has these addresses. */
function resolving(addresses: readonly string[], reaches: readonly string[] = []): GuardCase {
  return changing([addresses], reaches.length > 0 || addresses.length === 0, reaches);
}

/** A name with different addresses per lookup: by the check, by the call, and by further lookups. */
function changing(
  answers: readonly (readonly string[])[],
  stored: boolean,
  reaches: readonly string[],
): GuardCase {
  const name = fresh();
  const targets = reaches.map((address) => `${address} 443`);
  return { baseURL: `https://${name}/v1`, names: { [name]: answers }, stored, reaches: targets };
}

const privateAddresses = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '240.0.0.1',
  ownAddress,
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001::7f00:1',
  'fd00::1',
  'fd00:ec2::254',
  'fec0::1',
];

const neverPublic = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'ｌｏｃａｌｈｏｓｔ',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'loc%61lhost',
  'local\u00adhost',
  'api.localhost',
  'a.b.localhost',
  'printer.local',
  'metadata.google.internal',
  'METADATA.GOOGLE.INTERNAL',
  'metadata.google.internal.',
  'instance-data.ec2.internal',
  'nas.home.arpa',
  'metadata',
  'postgres',
  'example.com.',
  'api..example.com',
  '.example.com',
  `${'a'.repeat(300)}.localhost`,
];

export const nameCases: readonly GuardCase[] = [
  ...neverPublic.map((host) => ({ baseURL: `https://${host}/v1`, stored: false, reaches: [] })),
  ...privateAddresses.map((address) => resolving([address])),
  // One private address is enough, at any position.
  resolving([publicAddress, '127.0.0.1']),
  resolving(['127.0.0.1', publicAddress]),
  resolving([publicAddress, '8.8.8.8', '9.9.9.9', '169.254.169.254']),
  resolving([publicAddress, '::1']),
  resolving([publicAddress6, '10.0.0.1']),
  resolving([publicAddress6, 'fd00::1']),
  resolving([]),
  { baseURL: `https://${'a.'.repeat(200)}example.com/v1`, stored: true, reaches: [] },
  resolving([publicAddress], [publicAddress]),
  resolving([publicAddress6], [publicAddress6]),
  resolving([publicAddress, publicAddress6, '8.8.8.8'], [publicAddress, publicAddress6, '8.8.8.8']),
  // Rebinding: public when stored, private when called.
  changing([[publicAddress], ['127.0.0.1']], true, []),
  changing([[publicAddress], ['169.254.169.254']], true, []),
  changing([[publicAddress], ['10.0.0.1', publicAddress]], true, []),
  changing([[publicAddress], ['::1']], true, []),
  changing([[publicAddress6], ['::ffff:127.0.0.1']], true, []),
  changing([[], ['127.0.0.1']], true, []),
  changing([[publicAddress], []], true, []),
  // Public for the connection, private for a further lookup, which must not happen.
  changing([[publicAddress], [publicAddress], ['127.0.0.1']], true, [publicAddress]),
  changing([[publicAddress], ['8.8.8.8'], ['10.0.0.1']], true, ['8.8.8.8']),
];
