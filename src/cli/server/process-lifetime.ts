import { isatty } from 'node:tty';
import { flushStderr } from '../../log.ts';

/**
 * The life of a process: told to end by SIGTERM or Ctrl-C, it undoes what it did, the last first, and never hangs.
 */
export interface Life {
  /** Aborted when the process is told to end. */
  readonly ending: AbortSignal;
  /** What is undone at the end. */
  readonly closers: AsyncDisposableStack;
}

export interface LifeOptions {
  /** From being told to end, or from a failure, to the end by force. */
  readonly endMsMax: number;
  readonly onWord: (line: string) => void;
  /** Told what `run` or a closer threw. */
  readonly onError: (error: unknown) => void;
  /** A repeated signal within this time is the same one: npm and a terminal both send it on. */
  readonly repeatMs?: number;
}

/** Runs until `run` is through and all is undone, and answers the exit code. */
export async function live(
  run: (life: Life) => Promise<void>,
  options: LifeOptions,
): Promise<number> {
  const ending = new AbortController();
  const closers = new AsyncDisposableStack();
  let toldAt = Number.NaN;
  let code = 0;

  // Asked now: one that is closed is none any more.
  const onTerminal = [0, 1, 2].some((fd) => isatty(fd));
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGHUP' && !onTerminal) return;
    const now = performance.now();
    if (ending.signal.aborted) {
      if (now - toldAt < (options.repeatMs ?? 2_000)) return;
      options.onWord(`${signal} again: ending at once`);
      void atOnce();
    }
    toldAt = now;
    options.onWord(`${signal}: ending in order; once more ends at once`);
    limit();
    ending.abort(new Error(`ended by ${signal}`));
  };
  const limit = () =>
    setTimeout(() => {
      options.onWord('The end takes too long: ending at once');
      void atOnce();
    }, options.endMsMax).unref();

  for (const signal of signals) process.on(signal, onSignal);
  try {
    await run({ ending: ending.signal, closers });
  } catch (error) {
    // Given up because we were told to: no failure, but not what was asked for either.
    code = ending.signal.aborted ? 130 : 1;
    if (code === 1) options.onError(error);
  }
  if (!ending.signal.aborted) limit();
  await closers.disposeAsync().catch((error: unknown) => {
    code = 1;
    options.onError(error);
  });
  for (const signal of signals) process.off(signal, onSignal);
  return code;
}

async function atOnce(): Promise<never> {
  await flushStderr();
  process.exit(1);
}

/** Resolves when the process is told to end. */
export async function told({ ending }: Life): Promise<void> {
  if (ending.aborted) return;
  await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }));
}

/**
 * A closed terminal, which sends SIGHUP, ends us too, but not where there is none: `nohup` takes it away on all three
 * sides. Whether it also had the signal ignored cannot be known, since Node undoes that before we begin.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
