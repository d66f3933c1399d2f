import { isCall } from './condition-calls.ts';
import { type Node, partsOf } from './condition-nodes.ts';

/**
 * How many times over a value within a condition may hold what the condition speaks of: `input.a + input.a` twice. Else a
 * few nested lists would double a text until no memory holds it, in one step that nothing ends.
 */
export function heaviest(ast: Node): number {
  let most = 0;

  function weigh(node: Node, variables: ReadonlyMap<string, number>): number {
    const weight = weightOf(node, variables);
    most = Math.max(most, weight);
    return weight;
  }

  function weightOf(node: Node, variables: ReadonlyMap<string, number>): number {
    // What is written out is no longer than the condition.
    if (node.op === 'value') return 0;
    if (node.op === 'id') return variables.get(node.args) ?? 1;
    if (isLoop(node)) return weightOfLoop(node, variables);
    const weights = partsOf(node).map((part) => weigh(part, variables));
    if (joining.has(node.op)) return weights.reduce((sum, one) => sum + one, 0);
    return isSmall(node) ? 0 : Math.max(0, ...weights);
  }

  function weightOfLoop(node: Loop, variables: ReadonlyMap<string, number>): number {
    const [name, list, [variable, ...bodies]] = node.args;
    const weight = weigh(list, variables);
    const inner = new Map(variables).set(String(variable?.args), Math.max(1, weight));
    const inside = bodies.map((body) => weigh(body, inner));
    if (name === 'map') return inside.at(-1) ?? 0;
    return name === 'filter' ? weight : 0;
  }

  weigh(ast, new Map());
  return most;
}

const joining: ReadonlySet<string> = new Set(['+', 'list', 'map']);
const loops = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
/** What gives a truth value or a number. */
const smallOperators: ReadonlySet<string> = new Set(
  '== != < <= > >= in && || !_ -_ - * / %'.split(' '),
);
const smallCalls = /^(has|size|startsWith|endsWith|contains|bool|u?int|double|hasValue|get\w+)$/;

type Loop = Extract<Node, { op: 'rcall' }>;

function isLoop(node: Node): node is Loop {
  return node.op === 'rcall' && loops.has(node.args[0]);
}

function isSmall(node: Node): boolean {
  return isCall(node) ? smallCalls.test(node.args[0]) : smallOperators.has(node.op);
}
