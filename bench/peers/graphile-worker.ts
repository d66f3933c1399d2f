import { makeWorkerUtils, run, type TaskList } from 'graphile-worker';
import pg from 'pg';
import { answerOf, serve, type Variables } from './endpoint.ts';
import { batched, withMicroBatches } from './micro-batches.ts';

/**
 * graphile-worker with the settings of its performance documentation, in the process of the endpoint. It deletes
 * completed jobs and stores no output. Our batches use `addJobs` and store the outputs.
 */

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 30 });
pool.on('error', console.error);
await pool.query('create table outputs (id bigint primary key, output text not null)');
const storeMany = withMicroBatches(async (items: { id: string; output: string }[]) => {
  await pool.query(
    'insert into outputs select * from unnest($1::bigint[], $2::text[]) on conflict do nothing',
    [items.map(({ id }) => id), items.map(({ output }) => output)],
  );
  return items;
});
const taskList: TaskList = {
  async run(payload, { job }) {
    const answer = answerOf(payload as Variables);
    if (batched) await storeMany({ id: String(job.id), ...answer });
  },
};
await run({
  ...{ pgPool: pool, taskList, noHandleSignals: true },
  preset: {
    worker: {
      concurrentJobs: batched ? 250 : 24,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
});

const utils = await makeWorkerUtils({ pgPool: pool });
const addMany = withMicroBatches(async (items: Variables[]) =>
  (await utils.addJobs(items.map((payload) => ({ identifier: 'run', payload })))).map(({ id }) =>
    String(id),
  ),
);
let accepted = 0;

serve({
  async accept(payload) {
    const id = batched ? await addMany(payload) : String((await utils.addJob('run', payload)).id);
    accepted++;
    return id;
  },
  async finished() {
    const { rows } = await pool.query(
      'select count(*)::int as left from graphile_worker._private_jobs',
    );
    return accepted - rows[0].left;
  },
  async reset() {
    accepted = 0;
    await pool.query('truncate outputs');
  },
});
