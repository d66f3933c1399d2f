import { Worker } from 'node:worker_threads';
import { type Compute, type ComputeJob, JobTooLarge } from '../../core/compute.ts';
import { turns } from './turns.ts';

/**
 * One thread that runs the jobs of `core/compute.ts`. It starts with the first job.
 *
 * - Workspaces take turns, job by job: a workspace whose schemas take long to compile delays others by at most the jobs that
 *   are already in the thread. These are two by default, so that the thread does not wait for the event loop.
 * - A job that fails rejects alone. If the thread dies (out of memory), the job that it ran rejects, and those behind it, which
 *   may be of other workspaces, run in another thread.
 * - A thread without jobs does not keep the process running.
 */
export interface ComputeThread extends Compute {
  close(): Promise<void>;
}

const jobsInThreadMax = 2;
const heapMegabytesMax = 512;

/** What the thread is asked, and what it answers. */
export interface JobRequest {
  readonly id: number;
  readonly job: Pick<ComputeJob<unknown, unknown>, 'module' | 'name'>;
  readonly input: unknown;
}

export interface JobResponse {
  readonly id: number;
  readonly output?: unknown;
  readonly fault?: unknown;
}

interface Pending {
  readonly request: JobRequest;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
}

export function createComputeThread(
  heapMegabytes = heapMegabytesMax,
  jobsMax = jobsInThreadMax,
): ComputeThread {
  const waiting = turns<Pending>();
  /** In the order in which the thread runs them. */
  const running = new Map<number, Pending>();
  let thread: Worker | null = null;
  let lastId = 0;
  let closed = false;

  function start(): Worker {
    const started = new Worker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    const ended = (error: unknown) => {
      if (thread !== started) return;
      thread = null;
      replaceThread(error);
    };
    started.on('message', settle);
    started.on('error', ended);
    started.on('exit', () => ended(new Error('The compute thread has ended.')));
    return started;
  }

  function settle({ id, output, fault }: JobResponse): void {
    const pending = running.get(id);
    running.delete(id);
    proceed();
    if (fault === undefined) pending?.resolve(output as never);
    else pending?.reject(fault);
  }

  function replaceThread(error: unknown): void {
    for (const [id, { reject }] of running) {
      running.delete(id);
      reject(closed ? new Error(closedMessage) : isOutOfMemory(error) ? new JobTooLarge() : error);
      if (!closed) break;
    }
    if (running.size > 0) thread = start();
    for (const { request } of running.values()) thread?.postMessage(request);
    proceed();
  }

  function proceed(): void {
    while (running.size < jobsMax) {
      const next = waiting.next();
      if (!next) break;
      if (closed) {
        next.reject(new Error(closedMessage));
        continue;
      }
      thread ??= start();
      running.set(next.request.id, next);
      thread.postMessage(next.request);
    }
    if (running.size > 0) thread?.ref();
    else thread?.unref();
  }

  return {
    run(workspaceId, { module, name }, input) {
      return new Promise((resolve, reject) => {
        const request = { id: ++lastId, job: { module, name }, input };
        waiting.add(workspaceId, { request, resolve, reject });
        proceed();
      });
    },
    async close() {
      closed = true;
      await thread?.terminate();
    },
  };
}

const closedMessage = 'The process has closed its compute thread.';

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Beside this file, with its extension: the sources run as they are, the package is compiled. */
const entry = new URL(`./thread-entry${import.meta.url.slice(-3)}`, import.meta.url);
