import type { FakeProvider } from '../harness/fake-provider.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/**
 * A model call of one of two workers. The victim loses its executions and calls the provider below a separate path.
 * Models must be numbered and prompts unique.
 */
export interface ObservedCall {
  /** The output of the model. */
  readonly number: number;
  readonly victim: boolean;
  readonly prompt: string;
  readonly atMs: number;
  /** When the model responds. */
  readonly doneMs: number;
  /** When the worker aborted the call before that. */
  hungUpMs: number | null;
}

export interface CallObserver {
  /** Neither answered nor aborted yet. */
  inFlight(): ObservedCall[];
  /** Descriptions of the victim's calls in this period. */
  startedByVictim(fromMs: number, toMs?: number): string[];
  /** Returns all calls. */
  stop(): readonly ObservedCall[];
}

/** @param unanswered the number of calls, from the first one on, without a response */
export function observeCalls(
  provider: FakeProvider,
  victimPath: string,
  unanswered: number,
): CallObserver {
  const observed: ObservedCall[] = [];
  const poll = () => {
    for (const call of provider.calls.slice(observed.length)) {
      const { path, model, body, atMs } = call;
      const prompt = String(body?.messages?.at(-1)?.content);
      const victim = path.startsWith(victimPath);
      const number = observed.length + 1;
      const afterMs = Number(/\d+$/.exec(model)?.[0] ?? 0);
      const doneMs = number <= unanswered ? Number.POSITIVE_INFINITY : atMs + afterMs;
      const one: ObservedCall = { number, victim, prompt, atMs, doneMs, hungUpMs: null };
      observed.push(one);
      void call.hungUp.then(() => {
        one.hungUpMs = performance.now();
      });
    }
  };
  const timer = setInterval(poll, 5);
  return {
    inFlight: () =>
      observed.filter(({ hungUpMs, doneMs }) => hungUpMs === null && doneMs > performance.now()),
    startedByVictim: (fromMs, toMs = Number.POSITIVE_INFINITY) =>
      observed
        .filter(({ victim, atMs }) => victim && atMs > fromMs && atMs < toMs)
        .map((call) => `a worker without a lease started a call: ${JSON.stringify(call)}`),
    stop() {
      clearInterval(timer);
      poll();
      return observed;
    },
  };
}

/** Concurrent calls of one execution. */
export function overlapping(calls: readonly ObservedCall[]): string[] {
  const last = new Map<string, ObservedCall>();
  return calls.flatMap((call) => {
    const before = last.get(call.prompt);
    last.set(call.prompt, call);
    if (!before || before.doneMs <= call.atMs) return [];
    if (before.hungUpMs !== null && before.hungUpMs <= call.atMs) return [];
    return `two calls of an execution overlap: ${JSON.stringify([before, call])}`;
  });
}

/** The output of an execution is that of its last call, because earlier callers lost it. */
export async function checkOutputs(db: Db, calls: readonly ObservedCall[]): Promise<string[]> {
  const last = new Map(calls.map(({ prompt, number }) => [prompt, String(number)]));
  const { rows } = await sql<{ id: string; status: string; prompt: string; output: string }>`
    select id, status, error_code, error, attempts, user_prompt as prompt, output from executions`.execute(
    db,
  );
  return rows
    .filter(({ status, prompt, output }) => status !== 'success' || output !== last.get(prompt))
    .map((row) => `the output is not from the last call: ${JSON.stringify(row)}`);
}
