import { setTimeout as wait } from 'node:timers/promises';
import { untilBlocked } from '../../harness/locks.ts';
import type { TestKey } from '../../harness/people.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { sql } from '../../src/db/sql.ts';
import { type Answer, type Call, execute } from '../calls.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';

const concurrentCalls = 100;
/** The share of calls with the same key and another body. */
const othersShare = 0.06;
const processes = 3;
const killWithinMs = 30;

export const idempotent: Claim = {
  name: 'idempotent',
  description:
    'A hundred concurrent calls with one Idempotency-Key create one execution, even if a process is killed',
  rounds: { test: 2, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'missing-replay-lookup',
      description: 'the idempotency key is not looked up',
      file: 'engine/admit/admission-batch.ts',
      find: 'if (call.idempotencyKey === null || call.agentId === null) return null;',
      replace: 'return null;',
    },
    {
      name: 'replay-lookup-before-lock',
      description: 'the idempotency key is looked up before the lock',
      file: 'engine/admit/admission-read.ts',
      find: 'const lookup = { ...request, keyHashes: request.keyHashes.map(hashBytes) };',
      replace: `const lookup = { ...request, keyHashes: request.keyHashes.map(hashBytes) };
  const inOrder = send;
  const early = [send(begin), send(readReplays, lookup.firstCalls)];
  send = (statement, input) =>
    statement === begin ? early[0] : statement === readReplays ? early[1] : inOrder(statement, input);`,
    },
  ],
  prove,
  checkGoals: ({ counts }) => (counts[broken] ? [] : ['no kill interrupted a call']),
};

const broken = 'tries interrupted by a kill';

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { path } = await environment.agent();
  const apis = await Promise.all(Array.from({ length: processes }, () => environment.spawn('api')));
  const counts = {
    calls: 0,
    accepted: 0,
    replayed: 0,
    'refused for another body': 0,
    'kills -9': 0,
    [broken]: 0,
  };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const key = await environment.key();
    const calls = callsOf(environment, path, key);
    // In every second round all calls wait for the same lock.
    const answers = await sendAtOnce(environment, apis, calls, round % 2 === 1 ? key : null);
    counts['kills -9']++;
    counts[broken] += answers.reduce((sum, one) => sum + one.broken, 0);
    const found = await checkRound(environment, key, calls, answers);
    violations.push(...found.map((one) => `round ${round}: ${one}`));
    for (const { status, replayed } of answers) {
      counts.calls++;
      if (status === 202) counts[replayed ? 'replayed' : 'accepted']++;
      if (status === 422) counts['refused for another body']++;
    }
    if (round + 1 < rounds) apis.push(await environment.spawn('api'));
  }
  return { counts, violations };
}

interface Retried extends Answer {
  /** Earlier tries without a response. */
  readonly broken: number;
}

interface Named extends Call {
  readonly name: string;
}

function callsOf({ random }: ProofEnvironment, path: string, { key }: TestKey): Named[] {
  return Array.from({ length: concurrentCalls }, () => {
    const name = random() < othersShare ? 'other' : 'same';
    const headers = { 'idempotency-key': 'once' };
    return { name, path, key, body: { variables: { name } }, headers };
  });
}

/** A client whose connection breaks retries the call at another process. */
async function sendAtOnce(
  environment: ProofEnvironment,
  apis: CuelineProcess[],
  calls: readonly Call[],
  locked: TestKey | null,
): Promise<Retried[]> {
  const { db, random } = environment;
  const send = () => Promise.all(calls.map((call, index) => untilAnswered(apis, call, index)));
  const kill = async () => {
    await wait(random() * killWithinMs);
    const [victim] = apis.splice(Math.floor(random() * apis.length), 1);
    await victim?.kill('SIGKILL');
  };
  if (!locked) return (await Promise.all([send(), kill()]))[0];
  let answers: Promise<Retried[]> | undefined;
  await db.transaction(async (trx) => {
    await sql`select from limits where subject = ${locked.id} for update`.execute(trx);
    answers = send();
    // A process has at most two batches in flight, so three are from several processes.
    await untilBlocked(db, 3);
  });
  await kill();
  return (await answers) ?? [];
}

async function untilAnswered(
  apis: readonly CuelineProcess[],
  call: Call,
  index: number,
): Promise<Retried> {
  let broken = 0;
  for (let attempt = 0; ; attempt++) {
    const url = apis[(index + attempt) % apis.length]?.url ?? '';
    const answer = await execute(url, call).catch(() => null);
    if (answer && answer.status !== 503) return { ...answer, broken };
    if (!answer) broken++;
    await wait(5);
  }
}

async function checkRound(
  { db }: ProofEnvironment,
  key: TestKey,
  calls: readonly Named[],
  answers: readonly Answer[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, input_variables ->> 'name' as name from all_executions
    where api_key_id = ${key.id}`.execute(db);
  const [first, ...more] = rows;
  const violations: string[] = [];
  if (!first || more.length > 0) violations.push(`${rows.length} executions with one key`);
  const fresh = answers.filter(({ status, replayed }) => status === 202 && !replayed).length;
  if (fresh > 1) violations.push(`${fresh} responses are not marked as replays`);
  for (const [index, { status, executionId, code }] of answers.entries()) {
    const name = calls[index]?.name;
    const right =
      name === first?.name ? status === 202 && executionId === first?.id : status === 422;
    if (right) continue;
    violations.push(`"${name}" got ${status} ${code}; "${first?.name}" was first`);
  }
  return violations;
}
