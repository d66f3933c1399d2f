import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { ask } from '../access/ask.ts';
import { allEnded, checkCompletions, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { type DatabaseProxy, startProxy, statementEnds } from '../proxy.ts';
import { until } from '../until.ts';

/**
 * A round crashes a worker between two statements of the transaction that ends an execution: PostgreSQL receives the
 * statements before the crash, and executes them. The rounds take every position in turn. The execution is the last step of
 * a workflow run, has labels and a slot, and stores no bodies, and an endpoint reads its events, so that its end writes to every table it can.
 */

const crashing = 'crashing-worker';

export const crashWhileEnding: Claim = {
  name: 'crash-while-ending',
  description:
    'A crash between any two statements that end an execution leaves the live row, or the record with everything that belongs to it',
  rounds: { test: 14, short: 28, full: 280 },
  roundsPerEnvironment: 28,
  faults: [
    {
      name: 'statistics-after-commit',
      description: 'the statistics are added in a transaction of their own',
      file: 'engine/complete/completion.ts',
      find: 'sent.push(addStatistics(send, tallies));',
      replace: `sent.push(send({ name: 'commit', text: 'commit' }), send({ name: 'begin-again', text: 'begin' }));
  sent.push(addStatistics(send, tallies));`,
    },
    {
      name: 'progress-after-commit',
      description: 'the workflow run advances in a transaction of its own',
      file: 'engine/complete/completion.ts',
      find: 'const progressed = progress ?',
      replace: `sent.push(send({ name: 'commit', text: 'commit' }), send({ name: 'begin-again', text: 'begin' }));
  const progressed = progress ?`,
    },
    {
      name: 'events-after-commit',
      description: 'the events are written in a transaction of their own',
      file: 'engine/complete/completion.ts',
      find: 'const written = sendEvents(send, [...events, ...runEvents]);',
      replace: `sent.push(send({ name: 'commit', text: 'commit' }), send({ name: 'begin-again', text: 'begin' }));
  const written = sendEvents(send, [...events, ...runEvents]);`,
    },
    {
      name: 'record-after-commit',
      description: 'the live row is deleted before its record is inserted',
      file: 'engine/complete/completion.ts',
      find: 'if (ended.length > 0) sent.push(send(moveToHistory, ended));',
      // `end` is another word for a commit, after which the sender would refuse the rest.
      replace: `if (ended.length > 0) {
    const texts = ['create temp table ended as select * from execution_queue', 'delete from execution_queue', 'end', 'begin',
      'insert into execution_queue select * from ended', 'drop table ended'];
    for (const text of texts) sent.push(send({ name: text, text, values: () => [] }));
    sent.push(send(moveToHistory, ended));
  }`,
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs } = environment;
  const lease = { CUELINE_LEASE_MS: String(leaseMs) };
  const proxy = await startProxy({ ...environment.connection, application_name: crashing });
  const { url } = await environment.spawn('api', lease);
  await addPullEndpoint(environment);
  const execute = await runsOf(environment, url);
  const violations: string[] = [];
  const positions = new Set<number>();
  let statements = 0;
  for (let round = 0; round < rounds; round++) {
    const worker = await environment.spawn('worker', lease, proxy.connection);
    const crash = crashAtEnd(proxy, round);
    const before = await countRecords(db);
    await execute(round);
    if (!(await until(() => crash.position !== null))) throw new Error('nothing ended');
    await worker.kill('SIGKILL');
    if (!(await until(() => hasNoSession(db)))) throw new Error('a session remains');
    proxy.onSent = null;
    const at = `after ${crash.position} of ${crash.statements} statements`;
    const wasCommitted = crash.position === crash.statements;
    const records = (await countRecords(db)) - before;
    if (records !== Number(wasCommitted)) violations.push(`${records} records ${at}`);
    violations.push(...(await checkCompletions(db)).map((one) => `${at}: ${one}`));
    violations.push(...(await checkEvents(db)).map((one) => `${at}: ${one}`));
    positions.add(crash.position ?? 0);
    statements = Math.max(statements, crash.statements);
    await sql`update workers set lease_until = clock_timestamp() - interval '1 hour'`.execute(db);
  }
  await proxy.close();
  await environment.spawn('worker', lease);
  const ended = await allEnded(db);
  const unended = await sql`select from workflow_runs where status <> 'success'`.execute(db);
  return {
    counts: { crashes: rounds, positions: positions.size },
    violations: [
      ...violations,
      ...(ended ? [] : ['not all executions ended']),
      ...(unended.rows.length > 0 ? [`${unended.rows.length} workflow runs did not succeed`] : []),
      ...(rounds > statements && positions.size <= statements ? ['a position was left out'] : []),
      ...(await checkCompletions(db)),
      ...(await checkEvents(db)),
      // Without bodies, a record does not show its output.
      ...(await checkTables(db, { accepted: [], allowUnknown: true })).filter(
        (one) => !one.startsWith('inconsistent records'),
      ),
    ],
  };
}

/** An endpoint that subscribes to every end. */
async function addPullEndpoint({ db, workspaceId }: ProofEnvironment): Promise<void> {
  await sql`
    insert into endpoints (id, workspace_id, event_types, payload, format, sealed_secret)
    values (gen_random_uuid(), ${workspaceId}, '{execution.succeeded,workflow_run.succeeded}', 'thin', 'standard', '')`.execute(
    db,
  );
  await sql`insert into event_counters (workspace_id) values (${workspaceId})`.execute(db);
}

/** Each end has one event, and each event is about an end. */
async function checkEvents(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string; type: string | null }>`
    with ends as (
      select id, 'execution.succeeded' as type from executions
      union all select id, 'workflow_run.succeeded' from workflow_runs where status = 'success')
    select coalesce(ends.id, e.subject) as id, e.type
    from ends full join events e on e.subject = ends.id and e.type = ends.type
    where ends.id is null or e.id is null`.execute(db);
  return rows.map(
    ({ id, type }) =>
      `${id}: ${type === null ? 'an end without its event' : `${type} without its end`}`,
  );
}

/** Returns a function that starts one workflow run. */
async function runsOf(environment: ProofEnvironment, url: string) {
  const { db, workspaceId } = environment;
  const agent = await environment.agent({
    ...{ user: 'x', model: 'ollama/after-5', config: { maxConcurrency: 100 } },
  });
  await sql`update agents set store_bodies = false where id = ${agent.id}`.execute(db);
  const workflow = await addWorkflow(
    { db, workspaceId },
    { steps: [step({ name: 'only', agent })] },
  );
  const { key } = await environment.key();
  return async (round: number) => {
    const body = { input: {}, user: `user-${round}`, session: 's', tags: ['a', `b${round}`] };
    const path = `${url}/api/v1/workflows/${workflow.workflowId}/execute`;
    const { status, text } = await ask(path, 'POST', { authorization: `Bearer ${key}` }, body);
    if (status !== 202) throw new Error(`not accepted: ${text}`);
  };
}

interface Crash {
  /** The number of executed statements; null before the crash. */
  position: number | null;
  statements: number;
}

/** Cuts the next batch that ends an execution after some of its statements, and everything like it afterwards. */
function crashAtEnd(proxy: DatabaseProxy, round: number): Crash {
  const crash: Crash = { position: null, statements: 0 };
  proxy.onSent = (_link, text) => {
    if (!text.includes('completion-move-to-history')) return null;
    if (crash.position !== null) return 'before';
    const ends = statementEnds(text);
    const position = round % (ends.length + 1);
    Object.assign(crash, { position, statements: ends.length });
    if (position === ends.length) return 'after';
    return ends[position - 1] ?? 'before';
  };
  return crash;
}

async function countRecords(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from executions`.execute(db);
  return rows[0]?.n ?? 0;
}

async function hasNoSession(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where application_name = ${crashing}`.execute(db);
  return rows.length === 0;
}
