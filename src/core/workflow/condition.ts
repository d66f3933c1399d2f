import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { changedNumber } from '../json.ts';
import { storable } from '../storable-text.ts';
import { isCall, putOwn, registerOwn, unavailable, withoutOwn } from './condition-calls.ts';
import { firstOf, type Node, partsOf } from './condition-nodes.ts';
import { heaviest } from './condition-weight.ts';

/**
 * The condition of a step: an expression in CEL over `input` and `steps`, for example
 * `steps.triage.output.kind == "billing"`. An output that is JSON is looked into; numbers are doubles.
 */

/** What is wrong with a condition, the steps that it refers to, each once, and whether it refers to the input. */
export interface ConditionCheck {
  readonly problem: string | null;
  readonly steps: readonly string[];
  readonly input: boolean;
}

export const conditionCharsMax = 2_000;
/** How many times over a value within a condition may hold what the condition speaks of. */
const weightMax = 16;
const keptMax = 1_000;
const messageCharsMax = 300;

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 500, maxDepth: 50 },
})
  .registerVariable('input', 'dyn')
  .registerVariable('steps', 'map');
registerOwn(environment);

export function checkCondition(text: string): ConditionCheck {
  const { problem, steps, input } = readCondition(text);
  return { problem, steps, input };
}

export interface Condition extends ConditionCheck {
  /** Whether it may go through lists, and lists within lists. */
  readonly loops: boolean;
  readonly evaluate: (context: Record<string, unknown>) => unknown;
}

const kept = new Map<string, Condition>();

/** Conditions are read anew with every step that has one: those in use are kept. */
export function readCondition(text: string): Condition {
  const known = kept.get(text);
  if (known) return known;
  const condition = parse(text);
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value ?? '');
  kept.set(text, condition);
  return condition;
}

function parse(text: string): Condition {
  const wrong = (problem: string): Condition => ({
    problem,
    steps: [],
    input: false,
    loops: false,
    evaluate: () => false,
  });
  if (text.length > conditionCharsMax) {
    return wrong(`The condition is longer than ${conditionCharsMax} characters.`);
  }
  try {
    const { ast } = environment.parse(text);
    const roots = { steps: new Set<string>(), input: false };
    const problem = unavailability(ast) ?? overweight(ast) ?? inexactness(ast) ?? walk(ast, roots);
    if (problem !== null) return wrong(problem);
    const { valid, type, error } = ready(text).check();
    if (!valid) return wrong(messageOf(error));
    if (type !== 'bool' && type !== 'dyn')
      return wrong(`The condition gives a ${type}, not a bool.`);
    const { steps, input } = roots;
    // Read anew each time: what has gone through a list holds on to it for as long as it lives.
    const evaluate = (context: Record<string, unknown>) => ready(text)(context);
    return { problem, steps: [...steps], input, loops: hasCalls(ast), evaluate };
  } catch (error) {
    return wrong(messageOf(error));
  }
}

function ready(text: string): ParseResult {
  const parsed = environment.parse(text);
  putOwn(environment, parsed.ast);
  return parsed;
}

function unavailability(ast: Node): string | null {
  const name = unavailable(ast);
  return name === null ? null : `The function "${name}" is not available.`;
}

function overweight(ast: Node): string | null {
  if (heaviest(ast) <= weightMax) return null;
  return `The condition puts together more than ${weightMax} values in one.`;
}

function inexactness(node: Node): string | null {
  if (node.op !== 'value') return firstOf(partsOf(node), inexactness);
  const text = node.input.slice(node.start, node.end);
  if (isExact(node.args, text)) return null;
  return `The number ${text} would be read as another one: numbers are doubles.`;
}

/** Whether the value of what is written out is the same as a double. */
function isExact(literal: unknown, text: string): boolean {
  // A `uint` is an object.
  const value = literal?.valueOf();
  if (typeof value === 'bigint') return BigInt(Number(value)) === value;
  return typeof value !== 'number' || changedNumber(text) === null;
}

/** Collects what is referred to; says what must not stand in a condition. */
function walk(node: Node, roots: { steps: Set<string>; input: boolean }): string | null {
  const step = stepOf(node);
  if (step !== null) {
    roots.steps.add(step);
    return null;
  }
  if (node.op === 'id' && node.args === 'input') roots.input = true;
  if (node.op === 'id' && node.args === 'steps')
    return '"steps" must be followed by the name of a step.';
  return firstOf(partsOf(node), (part) => walk(part, roots));
}

function hasCalls(node: Node): boolean {
  return isCall(node) || partsOf(node).some(hasCalls);
}

/** `steps.NAME` and `steps["NAME"]`. */
function stepOf(node: Node): string | null {
  if (node.op !== '.' && node.op !== '[]') return null;
  const [of, name] = node.args;
  if (of.op !== 'id' || of.args !== 'steps') return null;
  if (typeof name === 'string') return name;
  return name.op === 'value' && typeof name.args === 'string' ? name.args : null;
}

/** The first line: what follows shows the place. It may quote a name or a value, which hold what a model wrote. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The condition cannot be evaluated.';
  const [line = ''] = withoutOwn(error.message.slice(0, messageCharsMax)).split('\n');
  return storable(line);
}
