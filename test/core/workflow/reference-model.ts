import fc from 'fast-check';
import type { StepDefinition, WorkflowDefinition } from '../../../src/core/workflow/definition.ts';

/**
 * The reference model of a workflow run: evaluates each step after those it waits for, with all outcomes known in
 * advance. It shares no code with `advance`. Outputs name their step, item and fallback, so they are distinguishable.
 */

export type Fate = 'success' | 'failed' | 'refused';

/** One step of the plan; the definition and the model are both derived from it. */
export interface Plan {
  readonly name: string;
  readonly refers: readonly string[];
  readonly after: readonly string[];
  /** The result of its condition; `broken` if it cannot be evaluated. */
  readonly when: 'none' | 'true' | 'false' | 'broken';
  /** The length of its list; null without `forEach`; -1 if it refers to something other than a list. */
  readonly list: number | null;
  readonly concurrency: number;
  readonly max: number;
  readonly fallback: 'none' | 'agent' | 'output';
  readonly onFailure: 'fail' | 'continue';
  /** By item (from -1) and by whether the fallback is called. */
  readonly fates: readonly Fate[];
}

export const fateOf = (plan: Plan, item: number, fallback: boolean): Fate =>
  plan.fates[((item + 1) * 2 + (fallback ? 1 : 0)) % plan.fates.length] ?? 'success';

/** The output of a call names the call. */
export const textOf = (step: string, item: number, fallback: boolean): string =>
  JSON.stringify([step, item, fallback]);

export const plans: fc.Arbitrary<Plan[]> = fc
  .array(
    fc.record({
      refers: fc.array(fc.nat(), { maxLength: 3 }),
      after: fc.array(fc.nat(), { maxLength: 2 }),
      when: fc.constantFrom('none', 'none', 'none', 'true', 'false', 'broken'),
      list: fc
        .option(fc.integer({ min: -1, max: 7 }), { freq: 3, nil: null })
        .map((n) => n ?? null),
      concurrency: fc.integer({ min: 1, max: 4 }),
      max: fc.integer({ min: 3, max: 7 }),
      fallback: fc.constantFrom('none', 'none', 'agent', 'output'),
      onFailure: fc.constantFrom('fail', 'continue', 'continue'),
      fates: fc.array(fc.constantFrom<Fate>('success', 'success', 'success', 'failed', 'refused'), {
        minLength: 1,
        maxLength: 9,
      }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((raw) =>
    raw.map((one, at): Plan => {
      const earlier = (picks: readonly number[]) =>
        at === 0 ? [] : [...new Set(picks.map((pick) => `s${pick % at}`))];
      return {
        ...(one as unknown as Plan),
        name: `s${at}`,
        refers: earlier(one.refers),
        after: earlier(one.after),
      };
    }),
  );

const conditions = {
  none: null,
  true: 'input.yes',
  false: '!input.yes',
  broken: 'input.none.x == 1',
};

/** The definition of a plan, with its steps in reverse order. */
export function definitionOf(plan: readonly Plan[]): WorkflowDefinition {
  const steps = plan.map(
    (one): StepDefinition => ({
      name: one.name,
      agentId: 'agt_x',
      variables: {
        own: one.list === null ? 'one' : '{{item}}/{{index}}',
        ...Object.fromEntries(one.refers.map((name) => [name, `{{steps.${name}.output}}`])),
      },
      after: one.after,
      onUnreadable: 'fail',
      when: conditions[one.when],
      forEach:
        one.list === null
          ? null
          : {
              list: `{{input.lists[${one.list + 1}]}}`,
              concurrency: one.concurrency,
              max: one.max,
            },
      fallback:
        one.fallback === 'none'
          ? null
          : one.fallback === 'agent'
            ? { agentId: 'agt_y', variables: { own: '{{item}}', yes: '{{input.yes}}' } }
            : { output: { instead: one.name } },
      onFailure: one.onFailure,
    }),
  );
  const input = { required: [], optional: [], defaults: {} };
  return { input, timeoutMs: 60_000, steps: steps.reverse(), output: null };
}

export const modelInput = JSON.stringify({
  yes: true,
  lists: [
    'not a list',
    ...Array.from({ length: 8 }, (_, n) => Array.from({ length: n }, (_, at) => at)),
  ],
});

export interface Expected {
  readonly status: 'success' | 'failed' | 'skipped';
  readonly output: unknown;
}

/** The end of each step if every step that can be executed is. */
export function expected(plan: readonly Plan[]): Map<string, Expected> {
  const ends = new Map<string, Expected>();
  for (const one of plan) ends.set(one.name, expectedOf(one, ends));
  return ends;
}

function expectedOf(one: Plan, ends: ReadonlyMap<string, Expected>): Expected {
  const awaited = [...one.refers, ...one.after].map((name) => ends.get(name)?.status);
  if (awaited.length > 0 && awaited.every((status) => status === 'skipped')) return skipped;
  if (one.when === 'false') return skipped;
  if (one.when === 'broken' || one.list === -1 || (one.list ?? 0) > one.max) return failed;
  if (one.list === null) return expectedCall(one, -1);
  const items = Array.from({ length: one.list }, (_, item) => expectedCall(one, item));
  if (one.onFailure === 'fail' && items.some(({ status }) => status === 'failed')) return failed;
  return { status: 'success', output: items.map(({ output }) => output) };
}

function expectedCall(one: Plan, item: number): Expected {
  if (fateOf(one, item, false) === 'success') return success([one.name, item, false]);
  if (one.fallback === 'output') return success({ instead: one.name });
  if (one.fallback === 'agent' && fateOf(one, item, true) === 'success')
    return success([one.name, item, true]);
  return failed;
}

const skipped: Expected = { status: 'skipped', output: null };
const failed: Expected = { status: 'failed', output: null };
const success = (output: unknown): Expected => ({ status: 'success', output });
