import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Claim, Found } from '../claim.ts';
import type { Fault } from '../fault.ts';
import { ownAddress } from '../guard/guard-case.ts';
import { networkSetup } from '../guard/isolated-network.ts';
import type { ProbeResult } from '../guard/probe.ts';

const run = promisify(execFile);

/**
 * Whatever base URL a workspace configures, no packet leaves for an address that is not public. Each case is tried twice:
 * when the URL is stored, and in a call with a stored URL. If the system permits it, this runs in a network namespace
 * that routes every address to our listeners, and the kernel counts connections. Otherwise the process counts and blocks
 * the connection attempts of its sockets.
 */
export const outboundGuard: Claim = {
  name: 'outbound-guard',
  description:
    'No packet leaves for a denied address, however a provider URL is spelled, resolved or redirected',
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
      'rejected on storing': 0,
      blocked: 0,
      allowed: 0,
    };
    const network = hasNamespaces();
    for (let round = 0; round < rounds; round++) {
      for (const probe of await probeAll(network, environment.fault)) {
        counts.cases++;
        if (probe.refused !== null) counts['rejected on storing']++;
        counts[probe.attempts.length === 0 ? 'blocked' : 'allowed']++;
        violations.push(...checkProbe(probe));
      }
    }
    const method = network ? 'rounds in a network namespace' : 'rounds with counted sockets';
    return { counts: { ...counts, [method]: rounds }, violations };
  },
};

function checkProbe({ case: one, refused, attempts, connections, arrived }: ProbeResult): string[] {
  const is = (what: string) => `${JSON.stringify(one.baseURL.slice(0, 80))} ${what}`;
  const wrong: string[] = [];
  if (one.stored && refused !== null) wrong.push(is(`was rejected: ${refused}`));
  if (!one.stored && refused === null) wrong.push(is('was stored'));
  if (one.reaches.length === 0) {
    if (connections > 0) wrong.push(is(`sent packets: ${attempts.join(', ')}`));
  } else {
    if (arrived.length === 0) wrong.push(is('reached no listener'));
    const wrongTargets = arrived.filter((target) => !one.reaches.includes(target));
    if (wrongTargets.length > 0) wrong.push(is(`reached ${wrongTargets.join(', ')}`));
  }
  return wrong;
}

const program = join(import.meta.dirname, '..', 'guard', 'probe.ts');
const loader = join(import.meta.dirname, '..', 'fault-loader.ts');
/** Calls must ignore proxies: the guard checked the provider's address, not that of a proxy. */
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
  const script = `${networkSetup(ownAddress, resolver)} && exec "$@" network`;
  const command = network ? [...unshare, 'sh', '-c', script, 'sh', ...node] : node;
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

/** A network and mount namespace with root rights inside. */
const unshare = ['unshare', '--map-root-user', '--net', '--mount'];

function hasNamespaces(): boolean {
  try {
    const [command = '', ...rest] = unshare;
    execFileSync(command, [...rest, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
