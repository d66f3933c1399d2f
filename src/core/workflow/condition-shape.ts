import type { ASTNode } from '@marcbachmann/cel-js';
import { wordSet, words } from '../words.ts';

/**
 * The shape of a condition, checked on its parsed tree when a definition is saved and again before a condition is
 * evaluated. Every operation that is allowed takes time linear in its operands. Excluded are patterns (`matches`),
 * functions that build lists or bytes from text, and variables (`cel.bind`), which could double a value at each use.
 *
 * A list macro iterates over a list once. Inside another macro it would multiply the work, so macros cannot be nested. It
 * may iterate over the result of `filter`, which is no larger than the list itself; after `map`, each macro of a chain
 * could double every item again. The size of the operands is known only at evaluation: see condition-cost.ts.
 */

export type Node = ASTNode;
type Call = Extract<Node, { op: 'call' | 'rcall' }>;

const listMacros: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
export const timeFunctions = wordSet(`
  getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes
  getMonth getSeconds
`);
const available: ReadonlySet<string> = new Set([
  'has',
  ...listMacros,
  ...words('size startsWith endsWith contains lowerAscii upperAscii trim'),
  ...words('bool int uint double string type dyn timestamp duration'),
  ...['of', 'none', 'hasValue', 'value', 'or', 'orValue'],
  ...timeFunctions,
]);

/** The first problem in the tree; null if there is none. */
export function shapeProblem(node: Node): string | null {
  if (isCall(node) && !available.has(node.args[0])) return unavailable(node.args[0]);
  if (isListMacro(node)) {
    const [name, list, inside] = node.args;
    const inner = findMacro(inside);
    if (inner) return `"${inner}" is not allowed inside "${name}": list macros cannot be nested.`;
    const before = findMacro([listBeforeFilters(list)]);
    if (before) {
      return `The list of "${name}" must not contain "${before}": only "filter" may precede it.`;
    }
  }
  return firstIn(childrenOf(node), shapeProblem);
}

function unavailable(name: string): string {
  const instead = name === 'matches' ? ' Use "startsWith", "endsWith" or "contains".' : '';
  return `The function "${name}" is not available.${instead}`;
}

/** The list at the start of a chain of filters. */
function listBeforeFilters(list: Node): Node {
  return isListMacro(list) && list.args[0] === 'filter' ? listBeforeFilters(list.args[1]) : list;
}

function findMacro(nodes: readonly Node[]): string | null {
  return firstIn(nodes, (node) => (isListMacro(node) ? node.args[0] : findMacro(childrenOf(node))));
}

export function isCall(node: Node): node is Call {
  return node.op === 'call' || node.op === 'rcall';
}

export function isListMacro(node: Node): node is Extract<Node, { op: 'rcall' }> {
  return node.op === 'rcall' && listMacros.has(node.args[0]);
}

/** The operands of an operator, the receiver and the arguments of a call, the parts of a list or a map. */
export function childrenOf({ args }: Node): Node[] {
  return [args].flat(2).filter(isNode);
}

export function countNodes(node: Node): number {
  return childrenOf(node).reduce((sum, child) => sum + countNodes(child), 1);
}

/** The first result that is not null. */
export function firstIn<T>(nodes: readonly Node[], find: (node: Node) => T | null): T | null {
  for (const node of nodes) {
    const found = find(node);
    if (found !== null) return found;
  }
  return null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
