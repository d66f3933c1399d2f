import { createContext, Script } from 'node:vm';
import { type Condition, messageOf, readCondition } from './condition.ts';
import { conditionValue } from './condition-value.ts';
import type { Document } from './document.ts';

/** Judges the conditions of steps, which are judged while everybody else waits: all of one advance share their time. */

export interface ConditionJudge {
  judge(text: string, scope: ConditionScope): ConditionResult;
}

export type ConditionResult =
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'error'; readonly message: string };

/** What a condition speaks of. */
export interface ConditionScope {
  readonly input: Document;
  /** Null where there is none. */
  readonly output: (step: string) => Document | null;
}

/** Of this thread's time: a machine that is busy with others must not fail anybody's run. */
const judgingMsMax = 100;
/** What goes through no list and speaks of no more characters is over before a watch is set. */
const briefCharsMax = 2_000;

/** For one advance of a run, however often it is begun anew with more of what it refers to. */
export function conditionJudge(): ConditionJudge {
  /** What conditions speak of may be long: it is parsed once. */
  const parsed = new Map<Document, unknown>();
  /** What a condition speaks of is over: it is judged once, also where the advance begins anew. */
  const judged = new Map<string, ConditionResult>();
  let usedMs = 0;

  function parsedOf(document: Document): unknown {
    if (!parsed.has(document)) parsed.set(document, conditionValue(document.inside()));
    return parsed.get(document);
  }

  function evaluate(condition: Condition, scope: ConditionScope): unknown {
    const steps: Record<string, unknown> = Object.create(null);
    for (const step of condition.steps) {
      const output = scope.output(step);
      steps[step] = { output: output && parsedOf(output) };
    }
    return condition.evaluate({ input: condition.input ? parsedOf(scope.input) : null, steps });
  }

  function judge(text: string, scope: ConditionScope): ConditionResult {
    const condition = readCondition(text);
    if (condition.problem !== null) return { kind: 'error', message: condition.problem };
    const leftMs = judgingMsMax - usedMs;
    if (leftMs <= 0) return { kind: 'error', message: tooLong };
    const begunMs = threadMs();
    try {
      const run = () => evaluate(condition, scope);
      const value = isTransient(condition, scope) ? run() : within(run, leftMs);
      if (typeof value === 'boolean') return { kind: 'value', value };
      return { kind: 'error', message: 'The condition gives neither true nor false.' };
    } catch (error) {
      if (!isTimeout(error)) return { kind: 'error', message: messageOf(error) };
      // Whatever the clock of the thread says: it was ended because all time was spent.
      usedMs = judgingMsMax;
      return { kind: 'error', message: tooLong };
    } finally {
      usedMs += threadMs() - begunMs;
    }
  }

  return {
    judge(text, scope) {
      const result = judged.get(text) ?? judge(text, scope);
      judged.set(text, result);
      return result;
    },
  };
}

const tooLong = `The conditions that are judged together take longer than ${judgingMsMax} ms.`;

function isTransient({ loops, steps, input }: Condition, scope: ConditionScope): boolean {
  if (loops) return false;
  const outputs = steps.map((step) => scope.output(step)?.json.length ?? 0);
  const chars = outputs.reduce((sum, one) => sum + one, input ? scope.input.json.length : 0);
  return chars <= briefCharsMax;
}

const cell: { run: () => unknown } = { run: () => null };
const stage = createContext(cell);
const script = new Script('run()');

/**
 * Ends what takes too long; an expression is plain JavaScript by then, which nothing else could stop. The watch goes by
 * the clock of the wall: where the thread had less than its time by then, it gets more.
 */
function within(run: () => unknown, leftMs: number): unknown {
  cell.run = run;
  for (let wallMs = Math.ceil(leftMs); ; wallMs *= 2) {
    const begunMs = threadMs();
    try {
      return script.runInContext(stage, { timeout: wallMs });
    } catch (error) {
      if (!isTimeout(error) || threadMs() - begunMs >= leftMs / 2) throw error;
    }
  }
}

/** Made in the other context: not an `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
