import { parentPort } from 'node:worker_threads';
import type { JobRequest, JobResponse } from './compute-thread.ts';

/** The compute thread: runs one job after the other. */

const modules = new Map<string, Promise<Record<string, unknown>>>();

parentPort?.on('message', async ({ id, job, input }: JobRequest) => {
  const { module, name } = job;
  try {
    const loaded = modules.get(module) ?? import(module);
    modules.set(module, loaded);
    const run = (await loaded)[name] as (input: unknown) => unknown;
    answer({ id, output: run(input) });
  } catch (fault) {
    answer({ id, fault });
  }
});

function answer(response: JobResponse): void {
  parentPort?.postMessage(response);
}
