import { Queue, Worker } from 'bullmq';
import { answerOf, serve, type Variables } from './endpoint.ts';
import { batched, withMicroBatches } from './micro-batches.ts';

/**
 * BullMQ as its guide describes: one queue, one worker with the concurrency of its example (50); completed jobs keep
 * their return values. Our batches use `addBulk`; only the commercial version has batches for workers.
 */

const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) };
const queue = new Queue<Variables, { output: string }>('runs', { connection });
const worker = new Worker<Variables, { output: string }>(
  'runs',
  async (job) => answerOf(job.data),
  { connection, concurrency: 50 },
);
worker.on('error', console.error);
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

const addMany = withMicroBatches(async (items: Variables[]) =>
  (await queue.addBulk(items.map((data) => ({ name: 'run', data })))).map(({ id }) => id ?? ''),
);

serve({
  accept: async (data) => (batched ? addMany(data) : ((await queue.add('run', data)).id ?? '')),
  finished: () => queue.getCompletedCount(),
  reset: async () => {
    await queue.drain();
    while ((await queue.clean(0, 10_000, 'completed')).length > 0);
  },
});
