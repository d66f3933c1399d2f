import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fromId } from '../../src/core/id.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables, endedWithinMs, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';

/**
 * A round uploads a batch and kills the process that receives it with `kill -9` before the end, then repeats the upload at
 * another process until its 202, and kills a worker while the lines run.
 */

const apis = 2;
const workers = 2;
const linesPerRound = 700;

export const batchKilled: Claim = {
  name: 'batch-killed',
  description:
    'A batch runs each of its lines exactly once, however often processes are killed during its upload and its lines',
  rounds: { test: 2, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'forgotten-ids',
      description: 'a repeated upload does not skip the ids that are stored',
      file: 'features/batches/verbs/upload-batch.ts',
      find: 'this.#unrepeated = new Set(lines.flatMap(({ id }) => id ?? []));',
      replace: 'this.#unrepeated = new Set();',
    },
    {
      name: 'endless-lines',
      description: 'the end of an execution does not end its line',
      file: 'engine/complete/completion.ts',
      find: 'if (lines) sent.push(...changeLines(send, lines));',
      replace: 'if (lines && ended.length === 0) sent.push(...changeLines(send, lines));',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs, random } = environment;
  const pool = createProcessPool(environment);
  await Promise.all([
    ...Array.from({ length: apis }, () => pool.start('api')),
    ...Array.from({ length: workers }, () => pool.start('worker')),
  ]);
  const { key } = await environment.key();
  const agent = await environment.agent({ model: 'ollama/after-20' });
  const watch = watchInvariants(db, 200);
  const batches: string[] = [];
  let uploads = 0;
  for (let round = 0; round < rounds; round++) {
    const file = fileOf(round);
    const target = { path: `${agent.path}/batches`, key, idempotencyKey: `round-${round}` };
    const [victim] = pool.up('api');
    if (!victim) break;
    uploads += 1 + (await interrupted(pool, victim, { ...target, file }, random()));
    batches.push(await uploaded(pool, { ...target, file }));
    pool.fill('api', apis);
    await wait(leaseMs * random());
    const [worker] = pool.up('worker');
    if (worker) await pool.kill(worker);
    pool.fill('worker', workers);
    while (pool.up('worker').length < 1 && pool.failed().length === 0) await wait(10);
    while (pool.up('api').length < 1 && pool.failed().length === 0) await wait(10);
  }
  await pool.settled();
  const done = await batchesEnded(db);
  const ended = done && (await allEnded(db));
  const executions = await sql<{ id: string }>`select id from executions`.execute(db);
  return {
    counts: {
      kills: 2 * rounds,
      uploads,
      lines: rounds * linesPerRound,
      executions: executions.rows.length,
    },
    violations: [
      ...(await checkLines(db, batches)),
      ...(done ? [] : ['not all batches ended']),
      ...(ended || !done ? [] : ['not all executions ended']),
      ...(await watch.stop()),
      ...(done ? await checkTables(db, { accepted: executions.rows.map(({ id }) => id) }) : []),
      ...pool.failed(),
    ],
  };
}

interface Upload {
  readonly path: string;
  readonly key: string;
  readonly idempotencyKey: string;
  readonly file: string;
}

function fileOf(round: number): string {
  const lines = Array.from({ length: linesPerRound }, (_, index) => {
    return `{"id":"${index}","variables":{"name":"${round}.${index}"}}\n`;
  });
  return lines.join('');
}

function send(url: string, { path, key, idempotencyKey }: Upload) {
  return request(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/jsonl',
      'idempotency-key': idempotencyKey,
    },
  });
}

/** Sends most of a file, kills the process that receives it a moment later, often among stored lines, and resolves with the retries. */
async function interrupted(
  pool: ProcessPool,
  victim: Member,
  upload: Upload,
  moment: number,
): Promise<number> {
  const sending = send(victim.process?.url ?? '', upload);
  const closed = new Promise<void>((resolve) => {
    sending.on('error', () => {}).on('close', resolve);
  });
  sending.write(upload.file.slice(0, Math.floor(upload.file.length * 0.9)));
  await wait(50 + 200 * moment);
  await pool.kill(victim);
  sending.destroy();
  await closed;
  return 1;
}

/** Repeats the upload until its 202. Returns the id of the batch. */
async function uploaded(pool: ProcessPool, upload: Upload): Promise<string> {
  const until = performance.now() + endedWithinMs;
  while (performance.now() < until) {
    const [member] = pool.up('api');
    const body = member ? await answerOf(send(member.process?.url ?? '', upload), upload) : null;
    if (body !== null) return (JSON.parse(body) as { batchId: string }).batchId;
    await wait(50);
  }
  throw new Error('An upload got no 202.');
}

/** The body of a 202; null for anything else. */
function answerOf(sending: ReturnType<typeof request>, { file }: Upload): Promise<string | null> {
  return new Promise((resolve) => {
    sending.on('error', () => resolve(null));
    sending.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('close', () => resolve(response.statusCode === 202 ? body : null));
    });
    sending.end(file);
  });
}

/** False if some batches have not ended after the timeout. */
async function batchesEnded(db: Db): Promise<boolean> {
  const until = performance.now() + endedWithinMs;
  for (;;) {
    const { rows } = await sql`select from batches where completed_at is null limit 1`.execute(db);
    if (rows.length === 0) return true;
    if (performance.now() > until) return false;
    await wait(50);
  }
}

/** Every line has succeeded with one execution, and every execution is the one of its line. */
async function checkLines(db: Db, batches: readonly string[]): Promise<string[]> {
  const ids = batches.map((id) => fromId('batch', id));
  const { rows } = await sql<Record<string, number> & { id: string; status: string }>`
    select b.id, b.status, b.total, b.success,
      (select count(*)::int from batch_lines l where l.batch_id = b.id) as lines,
      (select count(distinct l.execution_id)::int from batch_lines l where l.batch_id = b.id) as started,
      (select count(*)::int from all_executions e where e.batch_id = b.id) as executions,
      (select count(*)::int from batch_lines l join executions e on e.id = l.execution_id
        where l.batch_id = b.id and e.batch_id = b.id and e.status = 'success'
          and l.line = split_part(e.input_variables ->> 'name', '.', 2)::int + 1
          and l.id = split_part(e.input_variables ->> 'name', '.', 2)) as matching
    from batches b`.execute(db);
  const violations = rows.flatMap(({ id, status, ...counts }) => {
    const wrong = Object.entries(counts).filter(([, count]) => count !== linesPerRound);
    const found = wrong.map(([name, count]) => `batch ${id} has ${count} ${name}`);
    return status === 'completed' ? found : [...found, `batch ${id} is ${status}`];
  });
  if (rows.length !== ids.length)
    violations.push(`${ids.length} uploads made ${rows.length} batches`);
  return violations;
}
