import { type Job, type JobResult, PgBoss } from 'pg-boss';
import { answerOf, serve, type Variables } from './endpoint.ts';
import { batched, withMicroBatches } from './micro-batches.ts';

/**
 * pg-boss as documented: `send` for each job; a worker that takes batches, continues immediately while they are full, and
 * completes each job with its output. It polls as often as allowed. Our batches use `insert`.
 */

const name = 'runs';
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL ?? '', max: 20 });
boss.on('error', console.error);
await boss.start();
await boss.createQueue(name);
const options = {
  batchSize: 500,
  perJobResults: true,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  localConcurrency: 2,
} as const;
await boss.work(
  name,
  options,
  async (jobs: Job<Variables>[]): Promise<JobResult[]> =>
    jobs.map(({ id, data }) => ({ id, status: 'completed', output: answerOf(data) })),
);

const insertMany = withMicroBatches(async (items: Variables[]) => {
  const jobs = items.map((data) => ({ data }));
  return (await boss.insert(name, jobs, { returnId: true })) ?? [];
});

const ask = async (text: string) => (await boss.getDb().executeSql(text, [])).rows;

serve({
  accept: async (data) => (batched ? insertMany(data) : ((await boss.send(name, data)) ?? '')),
  async finished() {
    const [row] = await ask(`select count(*)::int as finished from pgboss.job
      where name = '${name}' and state = 'completed'`);
    return row.finished;
  },
  reset: async () => void (await ask('truncate pgboss.job')),
});
