import { untilBlocked } from '../../harness/locks.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { type Answer, execute } from '../calls.ts';
import { type Change, planChanges } from '../changes.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';

const clients = 4;
/** Calls of each client after the response to the change. */
const callsAfter = 5;
/** Accepted calls of all clients before the change, so that it happens under load. */
const acceptedBefore = 8;

export const revoked: Claim = {
  name: 'revoked',
  description:
    'After a key is revoked, an agent paused or a limit lowered, no process admits a later call, and revoked keys cannot poll',
  rounds: { test: 1, short: 12, full: 150 },
  roundsPerEnvironment: 12,
  faults: [
    {
      name: 'cached-keys',
      description: 'a process caches keys',
      file: 'engine/admit/admission-mapping.ts',
      find: `if (credential.kind === 'key') return ofKeys.get(credential.hash) ?? null;`,
      replace: `if (credential.kind === 'key') {
      globalThis.keptCallers ??= new Map();
      const { hash } = credential;
      if (!globalThis.keptCallers.has(hash)) globalThis.keptCallers.set(hash, ofKeys.get(hash) ?? null);
      return globalThis.keptCallers.get(hash);
    }`,
    },
    {
      name: 'cached-pollers',
      description: 'a process caches callers that have polled',
      file: 'engine/read/shared-reads.ts',
      find: '(keyHash && callers.get(keyHash))',
      replace: `(keyHash && (globalThis.keptPollers ??= new Map())
      .set(keyHash, globalThis.keptPollers.get(keyHash) ?? callers.get(keyHash)).get(keyHash))`,
    },
    {
      name: 'agents-before-lock',
      description: 'agents are read before the lock',
      file: 'engine/admit/admission-read.ts',
      find: 'const lookup = { ...request, keyHashes: request.keyHashes.map(hashBytes) };',
      replace: `const lookup = { ...request, keyHashes: request.keyHashes.map(hashBytes) };
  const inOrder = send;
  const early = [send(begin), send(readAgents, lookup)];
  send = (statement, input) =>
    statement === begin ? early[0] : statement === readAgents ? early[1] : inOrder(statement, input);`,
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const env = { CUELINE_TESTING_LIMITS: '1000000/1000000/1000000' };
  const processes = rounds > 1 ? 4 : 2;
  const apis = await Promise.all(
    Array.from({ length: processes }, () => environment.spawn('api', env)),
  );
  const counts = {
    changes: 0,
    'accepted before': 0,
    'refused after': 0,
    'accepted after': 0,
    'polls answered after': 0,
  };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const changes = await planChanges(environment);
    const others = await planChanges(environment);
    const inQueue = others.filter(({ what }) => ['revoke', 'disable'].includes(what));
    const results = [
      ...(await Promise.all(changes.map((change) => underLoad(environment, apis, change)))),
    ];
    for (const change of inQueue) results.push(await underLock(environment, apis, change));
    for (const { before, refused, found, after, polled } of results) {
      counts.changes++;
      counts['accepted before'] += before;
      counts['refused after'] += refused;
      counts['accepted after'] += after;
      counts['polls answered after'] += polled;
      violations.push(...found.map((one) => `round ${round}: ${one}`));
    }
  }
  return { counts, violations };
}

interface Result {
  readonly before: number;
  readonly refused: number;
  readonly after: number;
  /** Admitted polls with a revoked key. */
  readonly polled: number;
  readonly found: string[];
}

/** Clients call all processes round-robin while one of them makes the change. */
async function underLoad(
  environment: ProofEnvironment,
  apis: readonly CuelineProcess[],
  change: Change,
): Promise<Result> {
  let before = 0;
  let refused = 0;
  let after = 0;
  let polled = 0;
  let changed = false;
  const loadStarted = Promise.withResolvers<void>();

  async function client(index: number): Promise<void> {
    for (let left = callsAfter, turn = index; left > 0; turn++) {
      const sentAfter = changed;
      const { status } = await call(apis, change, turn);
      // Polls also start before the change, so that a process could cache what it reads.
      const polledStatus = await poll(apis, change, turn);
      if (sentAfter && change.what === 'revoke' && polledStatus !== 401) polled++;
      if (sentAfter) left--;
      if (status !== 202) refused++;
      else if (sentAfter) after++;
      else before++;
      // An early refusal must not prevent the change.
      if (before >= acceptedBefore || refused > 0) loadStarted.resolve();
    }
  }

  const load = Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  await loadStarted.promise;
  await change.make(apis[Math.floor(environment.random() * apis.length)]?.url ?? '');
  changed = true;
  await load;
  const found = await lateRecords(environment, change);
  if (before < acceptedBefore) found.push(`refused before "${change.what}" was made`);
  if (after > 0) found.push(`${after} calls after "${change.what}" were admitted`);
  if (polled > 0) found.push(`${polled} polls after "${change.what}" were admitted`);
  return { before, refused, after, polled, found };
}

/** The change waits for a lock, and calls that arrive before its response wait behind it. */
async function underLock(
  environment: ProofEnvironment,
  apis: readonly CuelineProcess[],
  change: Change,
): Promise<Result> {
  let made: Promise<void> | undefined;
  let calls: Promise<Answer[]> | undefined;
  await environment.db.transaction(async (trx) => {
    const { key, agent } = change;
    const subject = change.what === 'revoke' ? key.id : agent.id;
    await sql`select from limits where subject = ${subject} for update`.execute(trx);
    made = change.make(apis[0]?.url ?? '');
    await untilBlocked(environment.db);
    calls = Promise.all(apis.map((_, index) => call(apis, change, index)));
    await untilBlocked(environment.db, 2);
  });
  await made;
  const statuses = ((await calls) ?? []).map(({ status }) => status);
  const before = statuses.filter((status) => status === 202).length;
  const found = await lateRecords(environment, change);
  return { before, refused: statuses.length - before, after: 0, polled: 0, found };
}

function call(
  apis: readonly CuelineProcess[],
  { key, agent }: Change,
  turn: number,
): Promise<Answer> {
  const url = apis[turn % apis.length]?.url ?? '';
  return execute(url, { path: agent.path, key: key.key, body: { variables: { name: 'you' } } });
}

/** Returns the status of a poll. */
async function poll(
  apis: readonly CuelineProcess[],
  { key, agent }: Change,
  turn: number,
): Promise<number> {
  const url = `${apis[turn % apis.length]?.url}${agent.path}/executions/${toId('execution', agent.id)}`;
  const { status } = await fetch(url, { headers: { authorization: `Bearer ${key.key}` } });
  return status;
}

/** Records that are later than the change, by the database's clock. */
async function lateRecords(
  { db }: ProofEnvironment,
  { what, key, madeAtMs }: Change,
): Promise<string[]> {
  const atMs = await madeAtMs();
  if (atMs === null) return [];
  const { rows } = await sql`
    select from all_executions where api_key_id = ${key.id} and status not in ('rate_limited', 'unauthorized')
      and executed_at > to_timestamp(${atMs}::float8 / 1000)`.execute(db);
  return rows.length === 0 ? [] : [`${rows.length} records are later than "${what}"`];
}
