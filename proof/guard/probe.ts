import { Socket } from 'node:net';
import { openUnsealed, unsealed } from '../../harness/setups.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { checkBaseURL, type Resolve } from '../../src/net/guard.ts';
import { createModels } from '../../src/provider/registry.ts';
import { guardCases } from './cases.ts';
import { type GuardCase, ownAddress } from './guard-case.ts';
import { type IsolatedNetwork, startNetwork } from './isolated-network.ts';

/**
 * A process of its own that tries every case and prints what came of it, as JSON. With `network` as its argument it is
 * inside a network where every address leads to itself; else it looks at its own sockets, which are not let out.
 */
export interface ProbeResult {
  readonly case: GuardCase;
  /** Why it may not be stored; null where it may. */
  readonly refused: string | null;
  /** The code that the call failed with; null where it did not. */
  readonly code: string | null;
  /** Attempts to connect, as the process made them and as the kernel saw them. */
  readonly attempts: readonly string[];
  readonly begun: number;
  /** `address port` of what arrived. */
  readonly arrived: readonly string[];
}

const call = {
  ...{ executionId: '01920000-0000-7000-8000-000000000000', workspaceId: 'any', model: 'theirs/m' },
  ...{ system: null, user: 'hello', temperature: null, maxTokens: null, topP: null },
  ...{ timeoutMs: 5_000, called: false, signal: new AbortController().signal },
};

const isolated = process.argv[2] === 'network';
const attempts = watchSockets();
const asked = new Map<string, number>();
const names = Object.assign({}, ...guardCases.map((one) => one.names));
const network = isolated ? await startNetwork(addressesOf) : nowhere();
const results: ProbeResult[] = [];
for (const one of guardCases) {
  if (isolated || !needsNetwork(one)) results.push(await probe(one));
}
network.close();
process.stdout.write(JSON.stringify(results), () => process.exit());

/** Only there is that address the machine's own, and does the system itself know the names that the operator allows. */
function needsNetwork(one: GuardCase): boolean {
  return JSON.stringify(one).includes(ownAddress) || Boolean(one.allowedHosts && one.names);
}

async function probe(one: GuardCase): Promise<ProbeResult> {
  const { baseURL, allowedHosts = [], kind = 'openai-compatible' } = one;
  const resolve = isolated ? {} : { resolve: fromTable };
  const refused = await checkBaseURL(baseURL, allowedHosts, resolve.resolve);
  // A call is tried though it was refused to be stored: the check of the call stands for itself.
  const models = createModels({
    open: openUnsealed,
    env: {},
    ...{ allowedHosts, ...resolve },
  });
  attempts.length = 0;
  network.arrived();
  const before = network.begun();
  const provider = unsealed({ kind, apiKey: 'a-key-of-the-provider', baseURL });
  const code = await models.call({ ...call, setup: { provider, price: null } }).then(
    () => null,
    (error: unknown) => (error instanceof ModelFailure ? error.code : String(error)),
  );
  await models.close();
  // What was begun has arrived once the listener had its turn.
  await new Promise((done) => setTimeout(done, attempts.length > 0 ? 5 : 0));
  const begun = network.begun() - before;
  return { case: one, refused, code, attempts: [...attempts], begun, arrived: network.arrived() };
}

function addressesOf(name: string, time: number): readonly string[] {
  const answers: readonly (readonly string[])[] = names[name] ?? [];
  return answers[Math.min(time, answers.length - 1)] ?? [];
}

async function fromTable(name: string): ReturnType<Resolve> {
  const time = asked.get(name) ?? 0;
  asked.set(name, time + 1);
  const found = addressesOf(name, time);
  if (found.length === 0) throw Object.assign(new Error('ENOTFOUND'), { syscall: 'getaddrinfo' });
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

/** Every attempt of this process to connect, whichever library makes it. */
function watchSockets(): string[] {
  const seen: string[] = [];
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...given: Parameters<typeof connect>) {
    this.on('connectionAttempt', (address, port) => {
      seen.push(`${address} ${port}`);
      // Outside of the network nothing must get out of the machine.
      if (!isolated) process.nextTick(() => this.destroy(new Error('kept in')));
    });
    return Reflect.apply(connect, this, given);
  } as typeof connect;
  return seen;
}

function nowhere(): IsolatedNetwork {
  return { begun: () => attempts.length, arrived: () => [...attempts], close() {} };
}
