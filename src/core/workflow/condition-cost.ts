import type { Environment } from '@marcbachmann/cel-js';
import { wordSet } from '../words.ts';
import {
  childrenOf,
  countNodes,
  isCall,
  isListMacro,
  type Node,
  timeFunctions,
} from './condition-shape.ts';

/**
 * The cost of evaluating conditions: a number that depends only on the conditions and their data, never on the machine or
 * its load. One unit is about 0.05 µs.
 *
 * The shape check admits only operations that are linear in their operands. So each operation is charged with the size of
 * its operands before it runs, and a list macro with its items times the nodes of its body. An operation that would exceed
 * the limit does not run: evaluation fails, and nothing has to be interrupted. Reading a field and comparing it with a
 * literal are free, so a typical condition stays far below the limit.
 *
 * `addCharges` wraps operands in the tree with calls of the functions registered here. Some operands must also be short:
 * the engine's search for a longer text is not linear, and neither is parsing a long duration.
 */

export const conditionCostMax = 1_000_000;
export const conditionItemsMax = 10_000;
/** Of a duration, a time zone and the search text of `contains`. */
const shortCharsMax = 100;

const charsPerUnit = 5;
const listCost = 3;
const mapCost = 10;
const memberCost = 4;
const shortTextCost = 100;
const timeZoneCost = 3_000;
/** An error that `||`, `&&` or a list macro absorbs: building its stack and message takes time. */
const errorCost = 400;
/** Parsing these is slow: objects and their members, and numbers that may have no exact double. */
const expensiveJson = /[{:]|[\d.]{16}|\d[eE][+-]?\d{3}/g;
const jsonMemberCost = 8;
const jsonLongNumberCost = 60;

/** Shared by the conditions that are evaluated in one advance of a workflow run. */
export class ConditionCost {
  #charged = 0;

  get left(): number {
    return conditionCostMax - this.#charged;
  }

  charge(cost: number): void {
    this.#charged += cost;
    if (this.left >= 0) return;
    throw new Error('The conditions that are evaluated together process too much data.');
  }

  /** Call before parsing. Colons and digits within texts are charged too: they are few. */
  chargeJson(json: string): void {
    this.charge(json.length / charsPerUnit);
    for (const { 0: found } of json.matchAll(expensiveJson)) {
      this.charge(found.length === 1 ? jsonMemberCost : jsonLongNumberCost);
    }
  }

  /** Evaluation is synchronous, so that the registered functions charge one cost at a time. */
  measure<T>(evaluate: () => T): T {
    current = this;
    return evaluate();
  }
}

let current = new ConditionCost();

/** Conditions cannot call these functions: the shape check rejects their names. */
export function registerCharges(environment: Environment): void {
  environment
    .registerFunction('charge(dyn): dyn', (value: unknown) => {
      current.charge(sizeOf(value, current.left));
      return value;
    })
    .registerFunction('charge_short(dyn, int): dyn', (value: unknown, cost: bigint) => {
      current.charge(Number(cost));
      if (typeof value !== 'string' || value.length <= shortCharsMax) return value;
      throw new Error(
        `A search text, a duration or a time zone may have at most ${shortCharsMax} characters, not ${value.length}.`,
      );
    })
    .registerFunction('charge_items(dyn, int): dyn', (list: unknown, bodyNodes: bigint) => {
      if (typeof list !== 'object' || list === null) return list;
      const { length } = Array.isArray(list) ? list : Object.keys(list);
      if (length > conditionItemsMax) {
        throw new Error(
          `A list macro may iterate over at most ${conditionItemsMax} items, and this list has ${length}.`,
        );
      }
      current.charge(length * Number(bodyNodes));
      return list;
    })
    .registerFunction('set_up_evaluator(): bool', setUpEvaluator)
    .parse('set_up_evaluator()')();
}

/** The size of a value including nested values. Stops above `max`. */
function sizeOf(value: unknown, max: number): number {
  if (typeof value === 'string') return 1 + value.length / charsPerUnit;
  if (typeof value !== 'object' || value === null) return 1;
  const isList = Array.isArray(value);
  let size = isList ? listCost : mapCost;
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    size += sizeOf(member, max - size);
    if (typeof name === 'string') size += memberCost + name.length / charsPerUnit;
    if (size > max) break;
  }
  return size;
}

interface Evaluator {
  debugType: (value: unknown) => unknown;
  debugTypeDeep: (value: unknown) => unknown;
  tryEval: (node: unknown, context: unknown) => unknown;
  run: (node: unknown, context: unknown) => unknown;
}

/**
 * The library passes its evaluator only to the functions that it calls. Two methods are replaced:
 * - It derives the type of a list recursively from its first element and never evicts a type: data with ever new nestings
 *   would fill the memory. Here all lists have one type.
 * - It absorbs any number of errors. Here each is charged; above the limit no error is absorbed.
 */
function setUpEvaluator(this: Evaluator): boolean {
  this.debugTypeDeep = this.debugType;
  this.tryEval = (node, context) => {
    try {
      return this.run(node, context);
    } catch (error) {
      current.charge(errorCost);
      return error;
    }
  };
  return true;
}

const binaryOperators: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', '+']);
const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const accesses: ReadonlySet<string> = new Set(['[]', '[?]']);
const linearFunctions = wordSet(`
  size startsWith endsWith contains lowerAscii upperAscii trim bool int uint double string
  timestamp
`);

/** The library expands a macro when it parses a condition, and evaluates only the expansion. */
interface Expanded {
  readonly meta: { readonly alternate: { readonly args: { iterable: Node } } };
}

/** Puts the charges into the tree of a condition that has passed the shape check. */
export function addCharges(environment: Environment, root: Node): void {
  function wrap(parent: object, at: PropertyKey, call = 'charge(null)'): void {
    const children = parent as Record<PropertyKey, Node>;
    const { ast } = environment.parse(call);
    if (ast.op === 'call') ast.args[1][0] = children[at] as Node;
    children[at] = ast;
  }

  function visit(node: Node): void {
    const { op, args } = node;
    // The argument of `has` is a path, and must stay one.
    if (op === 'call' && args[0] === 'has') return;
    const bodyNodes = isListMacro(node) ? node.args[2].map(countNodes) : [];
    for (const child of childrenOf(node)) visit(child);
    if (isListMacro(node)) {
      const nodes = bodyNodes.reduce((sum, one) => sum + one, 0);
      const { args: expansion } = (node as unknown as Expanded).meta.alternate;
      wrap(expansion, 'iterable', `charge_items(null, ${nodes})`);
    } else if (isCall(node)) visitCall(node);
    else if (op === 'map') for (const entry of args) wrap(entry, 0);
    else if (accesses.has(op)) wrap(args as Node[], 1);
    else if (binaryOperators.has(op) && !isLiteralComparison(node)) {
      for (const at of [0, 1]) wrap(args as Node[], at);
    }
  }

  function visitCall({ op, args }: Node & { op: 'call' | 'rcall' }): void {
    const [name] = args;
    const given = args.at(-1) as Node[];
    if (op === 'rcall' && linearFunctions.has(name)) wrap(args as Node[], 1);
    const call = chargeOfArguments(name);
    if (call) for (const at of given.keys()) wrap(given, at, call);
  }

  visit(root);
}

function chargeOfArguments(name: string): string | null {
  if (timeFunctions.has(name)) return `charge_short(null, ${timeZoneCost})`;
  if (name === 'contains' || name === 'duration') return `charge_short(null, ${shortTextCost})`;
  return linearFunctions.has(name) ? 'charge(null)' : null;
}

/** Bounded by the length of the literal, and the most common operation. */
function isLiteralComparison({ op, args }: Node): boolean {
  return comparisons.has(op) && (args as Node[]).some((operand) => operand.op === 'value');
}
