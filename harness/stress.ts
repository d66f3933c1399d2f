import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { onInterruption } from './interruption.ts';

const loopsPerCore = 3;

/**
 * Makes the machine slow and its event loops late, to find tests that depend on speed: busy loops beside the tests, and
 * `delay-event-loop.ts` in every later Node process. Returns the function that ends it.
 */
export function startStress(): () => void {
  const { env } = process;
  const preload = `--import ${join(import.meta.dirname, 'delay-event-loop.ts')}`;
  env.NODE_OPTIONS = [env.NODE_OPTIONS, preload].filter(Boolean).join(' ');
  const loops = Array.from({ length: loopsPerCore * availableParallelism() }, () =>
    // Without the preloaded packages of the tests. Each ends with this process, also if it is killed.
    spawn('/bin/sh', ['-c', `while kill -0 ${process.pid} 2> /dev/null; do i=0; ${countUp} done`], {
      stdio: 'ignore',
    }),
  );
  const stop = () => {
    for (const loop of loops) loop.kill();
  };
  onInterruption(stop);
  return stop;
}

const countUp = 'while [ $i -lt 100000 ]; do i=$((i + 1)); done;';
