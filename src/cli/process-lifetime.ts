import { isatty } from 'node:tty';
import { Closers } from '../core/closers.ts';
import { flushStderr } from '../process/log.ts';

/**
 * Lifetime of a process. SIGTERM or Ctrl-C requests a shutdown, which runs the closers in reverse
 * order within a time limit.
 */
export interface Lifetime {
  /** Aborted when a shutdown is requested. */
  readonly stopping: AbortSignal;
  /** Cleanup at shutdown, in reverse order. */
  readonly closers: Closers;
}

export interface LifetimeOptions {
  /** Maximum time from the shutdown request, or from a failure, to a forced exit. */
  readonly shutdownMsMax: number;
  readonly onMessage: (line: string) => void;
  /** Receives errors thrown by `run` or a closer. */
  readonly onError: (error: unknown) => void;
  /** The exit code after an error of `run`. Default: 1. */
  readonly exitCodeOf?: (error: unknown) => number;
  /** Window in which a repeated signal is ignored: npm and a terminal both forward it. */
  readonly repeatMs?: number;
}

/** Runs `run` and then the closers. Returns the exit code. */
export async function runWithLifetime(
  run: (lifetime: Lifetime) => Promise<void>,
  options: LifetimeOptions,
): Promise<number> {
  const stopping = new AbortController();
  const closers = new Closers();
  let firstSignalMs = Number.NaN;
  let code = 0;

  // Checked at startup: a closed terminal is no longer one.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGHUP' && !hasTerminal) return;
    const now = performance.now();
    if (stopping.signal.aborted) {
      if (now - firstSignalMs < (options.repeatMs ?? 2_000)) return;
      options.onMessage(`${signal} again: exiting immediately`);
      void exitNow();
    }
    firstSignalMs = now;
    options.onMessage(`${signal}: shutting down; send again to exit immediately`);
    startTimeout();
    stopping.abort(new Error(`stopped by ${signal}`));
  };
  const startTimeout = () =>
    setTimeout(() => {
      options.onMessage('shutdown timed out: exiting immediately');
      void exitNow();
    }, options.shutdownMsMax).unref();

  for (const signal of signals) process.on(signal, onSignal);
  try {
    await run({ stopping: stopping.signal, closers });
  } catch (error) {
    // An interrupt is not a failure, but the command did not complete either.
    code = stopping.signal.aborted ? 130 : (options.exitCodeOf?.(error) ?? 1);
    if (!stopping.signal.aborted) options.onError(error);
  }
  if (!stopping.signal.aborted) startTimeout();
  await closers.close().catch((error: unknown) => {
    code = 1;
    options.onError(error);
  });
  for (const signal of signals) process.off(signal, onSignal);
  return code;
}

async function exitNow(): Promise<never> {
  await flushStderr();
  process.exit(1);
}

/** Resolves when a shutdown is requested. */
export async function untilStopping({ stopping }: Lifetime): Promise<void> {
  if (stopping.aborted) return;
  await new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }));
}

/**
 * SIGHUP, sent by a closing terminal, stops the process only if it has a terminal: `nohup` detaches
 * all three streams. Whether the parent ignores the signal cannot be detected, because Node.js
 * resets it at startup.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
