import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Claim, Found } from '../claim.ts';
import type { Fault } from '../fault.ts';
import { ownAddress } from '../guard/guard-case.ts';
import { makeWorld } from '../guard/isolated-network.ts';
import type { ProbeResult } from '../guard/probe.ts';

const run = promisify(execFile);

/**
 * Whatever a workspace gives as the address of its provider, no packet leaves for a place that is not public. Each case
 * is tried twice: as it would be stored, and as a call whose address was stored before. Where the system lets us make
 * one, this happens in a network in which every address of the network leads to our own listeners, under a kernel that
 * counts; elsewhere the process counts the attempts of its sockets and lets none out.
 */
export const outboundGuard: Claim = {
  name: 'outbound-guard',
  description:
    'No packet leaves for a denied address, however the address of a provider is spelled, resolved or redirected',
  rounds: { test: 1, short: 3, full: 20 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'unchecked-dns',
      description: 'resolved addresses are not checked',
      file: 'net/outbound.ts',
      find: 'if (!first || !found.every(({ address }) => isPublicAddress(address))) {',
      replace: 'if (!first) {',
    },
    {
      name: 'unlisted-ipv6-public',
      description: 'unlisted IPv6 addresses count as public',
      file: 'net/address.ts',
      find: "const global = blockList(['2000::/3']);",
      replace: "const global = blockList(['::/0']);",
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const violations: string[] = [];
    const counts = {
      cases: 0,
      'refused to be stored': 0,
      'kept from leaving': 0,
      'let through': 0,
    };
    const network = hasWorlds();
    for (let round = 0; round < rounds; round++) {
      for (const probe of await probeAll(network, environment.fault)) {
        counts.cases++;
        if (probe.refused !== null) counts['refused to be stored']++;
        counts[probe.attempts.length === 0 ? 'kept from leaving' : 'let through']++;
        violations.push(...wrongOf(probe));
      }
    }
    const where = network
      ? 'rounds in a network of our own'
      : 'rounds by the attempts of sockets alone';
    return { counts: { ...counts, [where]: rounds }, violations };
  },
};

function wrongOf({ case: one, refused, attempts, begun, arrived }: ProbeResult): string[] {
  const is = (what: string) => `${JSON.stringify(one.baseURL.slice(0, 80))} ${what}`;
  const wrong: string[] = [];
  if (one.stored && refused !== null) wrong.push(is(`may not be stored: ${refused}`));
  if (!one.stored && refused === null) wrong.push(is('may be stored'));
  if (one.reaches.length === 0) {
    if (begun > 0) wrong.push(is(`sent packets: ${attempts.join(', ')}`));
  } else {
    if (arrived.length === 0) wrong.push(is('reaches nobody'));
    const astray = arrived.filter((place) => !one.reaches.includes(place));
    if (astray.length > 0) wrong.push(is(`reaches ${astray.join(', ')}`));
  }
  return wrong;
}

const program = join(import.meta.dirname, '..', 'guard', 'probe.ts');
const loader = join(import.meta.dirname, '..', 'fault-loader.ts');
/** What no call may heed: the guard has looked at the provider's address, not at that of a proxy. */
const proxy = 'http://10.99.99.99:3128';
const proxies = {
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  ALL_PROXY: proxy,
  NODE_USE_ENV_PROXY: '1',
};

async function probeAll(network: boolean, fault: Fault | null): Promise<ProbeResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'cueline-network-'));
  const resolver = join(directory, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.53\noptions timeout:2 attempts:2\n');
  const node = [process.execPath, ...(fault ? ['--import', loader] : []), program];
  const made = `${makeWorld(ownAddress, resolver)} && exec "$@" network`;
  const command = network ? [...worldly, 'sh', '-c', made, 'sh', ...node] : node;
  const env = {
    ...process.env,
    ...proxies,
    ...(fault && { CUELINE_FAULT: JSON.stringify(fault) }),
  };
  try {
    const { stdout } = await run(command[0] ?? '', command.slice(1), { env, maxBuffer: 1e8 });
    return JSON.parse(stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A network and mounts of our own, and in them the rights of root. */
const worldly = ['unshare', '--map-root-user', '--net', '--mount'];

function hasWorlds(): boolean {
  try {
    const [command = '', ...rest] = worldly;
    execFileSync(command, [...rest, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
