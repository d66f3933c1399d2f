import { Socket } from 'node:net';
import { openUnsealed, unsealed } from '../../harness/setups.ts';
import { collectResponse } from '../../src/core/model/model-events.ts';
import { createModels } from '../../src/models/registry.ts';
import { checkBaseURL, type Resolve } from '../../src/net/guard.ts';
import { guardCases } from './cases.ts';
import { type GuardCase, ownAddress } from './guard-case.ts';
import { type IsolatedNetwork, startNetwork } from './isolated-network.ts';

/**
 * A separate process that tries every case and prints the results as JSON. With the argument `network` it runs in a network
 * namespace that routes every address to itself. Otherwise it records and blocks the connections of its sockets.
 */
export interface ProbeResult {
  readonly case: GuardCase;
  /** Why the URL may not be stored; null if it may. */
  readonly refused: string | null;
  /** Connection attempts, as recorded by the process and as counted by the kernel. */
  readonly attempts: readonly string[];
  readonly connections: number;
  /** `address port` of accepted connections. */
  readonly arrived: readonly string[];
}

const call = {
  ...{ executionId: '01920000-0000-7000-8000-000000000000', workspaceId: 'any', model: 'theirs/m' },
  ...{ system: null, user: 'hello', temperature: null, maxTokens: null, topP: null },
  ...{ timeoutMs: 5_000, called: false, signal: new AbortController().signal },
};

const isolated = process.argv[2] === 'network';
const attempts = watchSockets();
const lookups = new Map<string, number>();
const names = Object.assign({}, ...guardCases.map((one) => one.names));
const network = isolated ? await startNetwork(addressesOf) : noNetwork();
const results: ProbeResult[] = [];
for (const one of guardCases) {
  if (isolated || !needsNetwork(one)) results.push(await probe(one));
}
network.close();
process.stdout.write(JSON.stringify(results), () => process.exit());

/** Only the namespace owns that address and resolves the operator's allowed names. */
function needsNetwork(one: GuardCase): boolean {
  return JSON.stringify(one).includes(ownAddress) || Boolean(one.allowedHosts && one.names);
}

async function probe(one: GuardCase): Promise<ProbeResult> {
  const { baseURL, allowedHosts = [], kind = 'openai-compatible' } = one;
  const resolve = isolated ? {} : { resolve: fromTable };
  const refused = await checkBaseURL(baseURL, allowedHosts, resolve.resolve);
  // The call has its own check, so it is also tried with a rejected URL.
  const models = createModels({ open: openUnsealed, env: {}, allowedHosts, ...resolve });
  attempts.length = 0;
  network.arrived();
  const before = network.connections();
  const provider = unsealed({ kind, apiKey: 'a-key-of-the-provider', baseURL });
  const setup = { provider, price: null };
  await collectResponse(models, { ...call, setup }).catch(() => {});
  await models.close();
  // Lets the listener accept the connections.
  await new Promise((done) => setTimeout(done, attempts.length > 0 ? 5 : 0));
  const connections = network.connections() - before;
  return { case: one, refused, attempts: [...attempts], connections, arrived: network.arrived() };
}

function addressesOf(name: string, time: number): readonly string[] {
  const answers: readonly (readonly string[])[] = names[name] ?? [];
  return answers[Math.min(time, answers.length - 1)] ?? [];
}

async function fromTable(name: string): ReturnType<Resolve> {
  const time = lookups.get(name) ?? 0;
  lookups.set(name, time + 1);
  const found = addressesOf(name, time);
  if (found.length === 0) throw Object.assign(new Error('ENOTFOUND'), { syscall: 'getaddrinfo' });
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

/** Records every connection attempt of this process, by any library. */
function watchSockets(): string[] {
  const seen: string[] = [];
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...given: Parameters<typeof connect>) {
    this.on('connectionAttempt', (address, port) => {
      seen.push(`${address} ${port}`);
      // Without the namespace, no connection may leave the machine.
      if (!isolated) process.nextTick(() => this.destroy(new Error('blocked')));
    });
    return Reflect.apply(connect, this, given);
  } as typeof connect;
  return seen;
}

function noNetwork(): IsolatedNetwork {
  return { connections: () => attempts.length, arrived: () => [...attempts], close() {} };
}
