import fc from 'fast-check';
import type { StepDefinition, WorkflowDefinition } from '../../src/core/workflow/definition.ts';

/**
 * What must become of a run, worked out the simple way: every step after those it waits for, all outcomes known
 * beforehand. Nothing of `advance` is used. Outputs are numbers and lists of them, so that they can be told apart.
 */

export type Fate = 'success' | 'failed' | 'refused';

/** One step of the plan that both the definition and the model are made from. */
export interface Plan {
  readonly name: string;
  readonly refers: readonly string[];
  readonly after: readonly string[];
  /** `when`: none, or whether its condition holds, or cannot be evaluated. */
  readonly when: 'none' | 'true' | 'false' | 'broken';
  /** The length of its list; null where it does not fan out; -1 where what it refers to is no list. */
  readonly list: number | null;
  readonly concurrency: number;
  readonly max: number;
  readonly fallback: 'none' | 'agent' | 'output';
  readonly onFailure: 'fail' | 'continue';
  /** By item (-1 + 1 first) and by whether the fallback is called. */
  readonly fates: readonly Fate[];
}

export const fateOf = (plan: Plan, item: number, fallback: boolean): Fate =>
  plan.fates[((item + 1) * 2 + (fallback ? 1 : 0)) % plan.fates.length] ?? 'success';

/** What a call puts out: its place in the plan. */
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
      const earlier = (places: readonly number[]) =>
        at === 0 ? [] : [...new Set(places.map((place) => `s${place % at}`))];
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

/** The declaration of a plan, its steps in another order than they can be carried out in. */
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
    'no list',
    ...Array.from({ length: 8 }, (_, n) => Array.from({ length: n }, (_, at) => at)),
  ],
});

export interface Expected {
  readonly status: 'success' | 'failed' | 'skipped';
  readonly output: unknown;
}

/** How each step ends where every step is carried out that can be. */
export function expected(plan: readonly Plan[]): Map<string, Expected> {
  const ends = new Map<string, Expected>();
  for (const one of plan) ends.set(one.name, expectedOf(one, ends));
  return ends;
}

function expectedOf(one: Plan, ends: ReadonlyMap<string, Expected>): Expected {
  const awaited = [...one.refers, ...one.after].map((name) => ends.get(name)?.status);
  if (awaited.length > 0 && awaited.every((status) => status === 'skipped')) return skipped;
  if (one.when === 'false') return skipped;
  if (one.when === 'broken' || one.list === -1 || (one.list ?? 0) > one.max) return lost;
  if (one.list === null) return expectedCall(one, -1);
  const items = Array.from({ length: one.list }, (_, item) => expectedCall(one, item));
  if (one.onFailure === 'fail' && items.some(({ status }) => status === 'failed')) return lost;
  return { status: 'success', output: items.map(({ output }) => output) };
}

function expectedCall(one: Plan, item: number): Expected {
  if (fateOf(one, item, false) === 'success') return won([one.name, item, false]);
  if (one.fallback === 'output') return won({ instead: one.name });
  if (one.fallback === 'agent' && fateOf(one, item, true) === 'success')
    return won([one.name, item, true]);
  return lost;
}

const skipped: Expected = { status: 'skipped', output: null };
const lost: Expected = { status: 'failed', output: null };
const won = (output: unknown): Expected => ({ status: 'success', output });
