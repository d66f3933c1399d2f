import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { storable } from './storable.ts';

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
const keptMax = 1_000;
const messageCharsMax = 300;

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 500, maxDepth: 50 },
})
  .registerVariable('input', 'dyn')
  .registerVariable('steps', 'map');

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
    const parsed = environment.parse(text);
    const { valid, type, error } = parsed.check();
    if (!valid) return wrong(messageOf(error));
    if (type !== 'bool' && type !== 'dyn')
      return wrong(`The condition gives a ${type}, not a bool.`);
    const roots = { steps: new Set<string>(), input: false };
    const problem = walk(parsed.ast, roots);
    if (problem !== null) return wrong(problem);
    const { steps, input } = roots;
    return { problem, steps: [...steps], input, loops: hasCalls(parsed.ast), evaluate: parsed };
  } catch (error) {
    return wrong(messageOf(error));
  }
}

/** Collects what is referred to; says what must not stand in a condition. */
function walk(node: unknown, roots: { steps: Set<string>; input: boolean }): string | null {
  if (Array.isArray(node)) {
    for (const one of node) {
      const problem = walk(one, roots);
      if (problem !== null) return problem;
    }
    return null;
  }
  if (!isNode(node)) return null;
  const step = stepOf(node);
  if (step !== null) {
    roots.steps.add(step);
    return null;
  }
  if (node.op === 'id' && node.args === 'input') roots.input = true;
  if (node.op === 'id' && node.args === 'steps')
    return '"steps" must be followed by the name of a step.';
  if (node.op === 'rcall' || node.op === 'call') {
    // A pattern that somebody wrote can take longer than anybody lives.
    if (node.args[0] === 'matches') return '"matches" is not available.';
  }
  return walk(node.args, roots);
}

function hasCalls(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasCalls);
  if (!isNode(node)) return false;
  return node.op === 'rcall' || node.op === 'call' || hasCalls(node.args);
}

/** `steps.NAME` and `steps["NAME"]`. */
function stepOf(node: ASTNode): string | null {
  if (node.op !== '.' && node.op !== '[]') return null;
  const [of, name] = node.args;
  if (of.op !== 'id' || of.args !== 'steps') return null;
  if (typeof name === 'string') return name;
  return name.op === 'value' && typeof name.args === 'string' ? name.args : null;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** The first line: what follows shows the place. It may quote a name or a value, which hold what a model wrote. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The condition cannot be evaluated.';
  const [line = ''] = error.message.split('\n');
  return storable(line.slice(0, messageCharsMax));
}
