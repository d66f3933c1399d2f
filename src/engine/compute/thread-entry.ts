import { parentPort } from 'node:worker_threads';
import type { JobRequest, JobResponse } from './compute-thread.ts';

/** The compute thread: runs one job after the other, in the order in which they arrive. */

let previous = Promise.resolve();
parentPort?.on('message', (request: JobRequest) => {
  previous = previous.then(() => run(request));
});

const modules = new Map<string, Promise<Record<string, unknown>>>();

async function run({ id, job, input }: JobRequest): Promise<void> {
  const { module, name } = job;
  try {
    const loaded = modules.get(module) ?? import(module);
    modules.set(module, loaded);
    const compute = (await loaded)[name] as (input: unknown) => unknown;
    answer({ id, output: compute(input) });
  } catch (fault) {
    answer({ id, fault });
  }
}

function answer(response: JobResponse): void {
  parentPort?.postMessage(response);
}
