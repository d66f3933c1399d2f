import { sql } from 'kysely';
import type { FakeProvider } from '../harness/fake-provider.ts';
import type { Db } from '../src/store/connection/database.ts';

/**
 * Model calls of two workers, one of which is to lose its executions. Models must be numbered, prompts unique, and one
 * worker must call the provider below the given path.
 */
export interface Noted {
  /** The output of the model. */
  readonly number: number;
  readonly victim: boolean;
  readonly prompt: string;
  readonly atMs: number;
  /** When the model would answer. */
  readonly doneMs: number;
  /** When the worker closed the connection before that. */
  hungUpMs: number | null;
}

export interface Notes {
  /** Neither answered nor aborted yet. */
  underWay(): Noted[];
  /** Descriptions for people. */
  begunByVictim(fromMs: number, toMs?: number): string[];
  /** All calls. */
  stop(): readonly Noted[];
}

/** @param unanswered how many calls, the first ones, are never answered */
export function noteCalls(provider: FakeProvider, victimPath: string, unanswered: number): Notes {
  const noted: Noted[] = [];
  const note = () => {
    for (const call of provider.calls.slice(noted.length)) {
      const { path, model, body, atMs } = call;
      const prompt = String(body?.messages?.at(-1)?.content);
      const victim = path.startsWith(victimPath);
      const number = noted.length + 1;
      const afterMs = Number(/\d+$/.exec(model)?.[0] ?? 0);
      const doneMs = number <= unanswered ? Number.POSITIVE_INFINITY : atMs + afterMs;
      const one: Noted = { number, victim, prompt, atMs, doneMs, hungUpMs: null };
      noted.push(one);
      void call.hungUp.then(() => {
        one.hungUpMs = performance.now();
      });
    }
  };
  const timer = setInterval(note, 5);
  return {
    underWay: () =>
      noted.filter(({ hungUpMs, doneMs }) => hungUpMs === null && doneMs > performance.now()),
    begunByVictim: (fromMs, toMs = Number.POSITIVE_INFINITY) =>
      noted
        .filter(({ victim, atMs }) => victim && atMs > fromMs && atMs < toMs)
        .map((call) => `a worker without its lease has begun a call: ${JSON.stringify(call)}`),
    stop() {
      clearInterval(timer);
      note();
      return noted;
    },
  };
}

/** Concurrent calls of one execution. */
export function overlapping(calls: readonly Noted[]): string[] {
  const last = new Map<string, Noted>();
  return calls.flatMap((call) => {
    const before = last.get(call.prompt);
    last.set(call.prompt, call);
    if (!before || before.doneMs <= call.atMs) return [];
    if (before.hungUpMs !== null && before.hungUpMs <= call.atMs) return [];
    return `a call was still under way as the next began: ${JSON.stringify([before, call])}`;
  });
}

/** The output of an execution is that of its last call: earlier callers had lost it. */
export async function checkOutputs(db: Db, calls: readonly Noted[]): Promise<string[]> {
  const last = new Map(calls.map(({ prompt, number }) => [prompt, String(number)]));
  const { rows } = await sql<{ id: string; status: string; prompt: string; output: string }>`
    select id, status, error_code, error, attempts, user_prompt as prompt, output from executions`.execute(
    db,
  );
  return rows
    .filter(({ status, prompt, output }) => status !== 'success' || output !== last.get(prompt))
    .map((row) => `a run did not end with its last call: ${JSON.stringify(row)}`);
}
