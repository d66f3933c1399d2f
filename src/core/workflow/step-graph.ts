import { checkCondition } from './condition.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import { findReferences, stepsReferredTo, wholeReference } from './reference.ts';

/** The dependencies between the steps of a workflow. */

export interface WorkflowGraph {
  /** The steps in topological order. Steps in a cycle, and those that wait for them, are left out. */
  readonly ordered: readonly StepDefinition[];
  /** The steps that each step waits for, by name. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>;
  /** The steps that no other step waits for, in the order of the declaration. */
  readonly last: readonly string[];
  /** The steps whose outputs the run's output reads into, and no step does. */
  readonly readByOutputOnly: ReadonlySet<string>;
}

const cache = new WeakMap<WorkflowDefinition, WorkflowGraph>();

/** The graph of a definition; cached per object, because a version never changes. */
export function graphOf(definition: WorkflowDefinition): WorkflowGraph {
  const known = cache.get(definition);
  if (known) return known;
  const graph = { ...buildGraph(definition.steps), readByOutputOnly: readByOutputOnly(definition) };
  cache.set(definition, graph);
  return graph;
}

/** The steps that a step waits for, each once: those it refers to and those it names. */
export function waitsFor(step: StepDefinition): string[] {
  const condition = step.when === null ? [] : checkCondition(step.when).steps;
  const values = [step.variables, step.forEach?.list, step.fallback];
  return [...new Set([...step.after, ...condition, ...stepsReferredTo(values)])];
}

/** A fallback does not count: it is rarely called, and the run's output needs the value in any case. */
function readByOutputOnly({ steps, output }: WorkflowDefinition): Set<string> {
  const names = new Set(stepsReadInto(output));
  for (const { variables, forEach, when } of steps) {
    const list = forEach ? wholeReference(forEach.list)?.step : null;
    const condition = when === null ? [] : checkCondition(when).reads;
    for (const step of [...stepsReadInto(variables), ...stepsReadInto(forEach?.list), ...condition])
      names.delete(step);
    if (list) names.delete(list);
  }
  return names;
}

function stepsReadInto(value: unknown): string[] {
  return findReferences(value).flatMap(({ step, path }) => (path.length > 0 && step) || []);
}

function buildGraph(steps: readonly StepDefinition[]): Omit<WorkflowGraph, 'readByOutputOnly'> {
  const waits = new Map(steps.map((step) => [step.name, waitsFor(step)]));
  const ordered: StepDefinition[] = [];
  const done = new Set<string>();
  for (let left = [...steps]; left.length > 0; ) {
    const next = left.filter(({ name }) => waits.get(name)?.every((one) => done.has(one)));
    if (next.length === 0) break;
    for (const step of next) done.add(step.name);
    ordered.push(...next);
    left = left.filter(({ name }) => !done.has(name));
  }
  const awaited = new Set([...waits.values()].flat());
  const last = steps.map(({ name }) => name).filter((name) => !awaited.has(name));
  return { ordered, waitsFor: waits, last };
}
