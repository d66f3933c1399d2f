import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { changedNumber } from '../json.ts';
import { LruCache } from '../lru-cache.ts';
import { storable } from '../storable-text.ts';
import { addCharges, registerCharges } from './condition-cost.ts';
import { outputReads, readJson, stepOf, withNulls } from './condition-reads.ts';
import { childrenOf, firstIn, type Node, shapeProblem } from './condition-shape.ts';

/**
 * The condition of a step: an expression in CEL over `input` and `steps`, for example
 * `steps.triage.output.kind == "billing"`. An output that is JSON is parsed; numbers are doubles.
 *
 * The library parses, type-checks and evaluates. A condition is evaluated on the event loop and under the lock of its
 * workflow run, so evaluation must be cheap for any author and any data:
 * - `shapeProblem` (condition-shape.ts) admits only operations that are linear in their operands, and no nested list macro.
 *   It is checked when a definition is saved, when a run starts, and before each evaluation.
 * - `ConditionCost` (condition-cost.ts) charges each operation with the size of its operands before it runs.
 */

/**
 * The problem of a condition, the steps it refers to and those whose outputs it reads into, each once, and whether it refers
 * to the input.
 */
export interface ConditionCheck {
  readonly problem: string | null;
  readonly steps: readonly string[];
  readonly reads: readonly string[];
  readonly input: boolean;
}

export const conditionCharsMax = 2_000;
const cachedMax = 1_000;
const messageCharsMax = 300;

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 500, maxDepth: 50 },
})
  .registerVariable('input', 'dyn')
  .registerVariable('steps', 'map');
registerCharges(environment);

const cache = new LruCache<ConditionCheck>(cachedMax);

/** Conditions are checked with every step that has one: those in use are cached. */
export function checkCondition(text: string): ConditionCheck {
  return cache.getOrCreate(text, () => checkText(text));
}

/**
 * The value of a condition without a problem. Parsed each time: a tree that has iterated over a list retains its last item.
 * @param nulls steps whose outputs contain no JSON: what is read from them is null
 */
export function evaluateCondition(
  text: string,
  data: Record<string, unknown>,
  nulls: ReadonlySet<string> = new Set(),
): unknown {
  let parsed = environment.parse(text);
  if (nulls.size > 0) parsed = environment.parse(withNulls(text, parsed.ast, nulls));
  readJson(parsed.ast);
  addCharges(environment, parsed.ast);
  return parsed(data);
}

function checkText(text: string): ConditionCheck {
  const invalid = (problem: string): ConditionCheck => ({
    problem,
    steps: [],
    reads: [],
    input: false,
  });
  if (text.length > conditionCharsMax) {
    return invalid(`The condition is longer than ${conditionCharsMax} characters.`);
  }
  try {
    const parsed = environment.parse(text);
    const roots = { steps: new Set<string>(), input: false };
    const problem =
      shapeProblem(parsed.ast) ??
      inexactNumber(parsed.ast) ??
      collectRoots(parsed.ast, roots) ??
      typeProblem(parsed);
    if (problem !== null) return invalid(problem);
    const reads = [...new Set(outputReads(parsed.ast).map(({ step }) => step))];
    return { problem, steps: [...roots.steps], reads, input: roots.input };
  } catch (error) {
    return invalid(messageOf(error));
  }
}

function typeProblem(parsed: ParseResult): string | null {
  const { valid, type, error } = parsed.check();
  if (!valid) return messageOf(error);
  return type === 'bool' || type === 'dyn' ? null : `The condition returns ${type}, not bool.`;
}

function inexactNumber(node: Node): string | null {
  if (node.op !== 'value') return firstIn(childrenOf(node), inexactNumber);
  const text = node.input.slice(node.start, node.end);
  if (isExact(node.args, text)) return null;
  return `The number ${text} has no exact double, and numbers are doubles.`;
}

/** Whether a double holds the value of a literal. */
function isExact(literal: unknown, text: string): boolean {
  // A `uint` is an object.
  const value = literal?.valueOf();
  if (typeof value === 'bigint') return BigInt(Number(value)) === value;
  return typeof value !== 'number' || changedNumber(text) === null;
}

/** Collects the steps and the input that a condition refers to. Returns the problem of an invalid reference. */
function collectRoots(node: Node, roots: { steps: Set<string>; input: boolean }): string | null {
  const step = stepOf(node);
  if (step !== null) {
    roots.steps.add(step);
    return null;
  }
  if (node.op === 'id' && node.args === 'input') roots.input = true;
  if (node.op === 'id' && node.args === 'steps')
    return '"steps" must be followed by the name of a step.';
  return firstIn(childrenOf(node), (child) => collectRoots(child, roots));
}

/** The first line; the others show the position. It may quote names and values, which a model may have written. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The condition cannot be evaluated.';
  const [line = ''] = error.message.slice(0, messageCharsMax).split('\n');
  const [, a, b] = calculation.exec(line) ?? [];
  const isMixed = (a === 'double' && b === 'int') || (a === 'int' && b === 'double');
  return storable(isMixed ? `${line}. ${mixedNumbers}` : line);
}

const calculation = /^no such overload: (?:dyn<)?(\w+)>? [-+*/%] (?:dyn<)?(\w+)>?$/;
const mixedNumbers =
  'An int and a double do not combine, and numbers of JSON are doubles: write 1.0 for 1, double(…) for an int, int(…) for %.';
