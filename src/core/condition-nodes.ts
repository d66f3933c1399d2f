import type { ASTNode } from '@marcbachmann/cel-js';

/** A condition as a tree. */

export type Node = ASTNode;

/** Those directly within: of an access what it reaches into, of a call what it is called on and with. */
export function partsOf({ args }: Node): Node[] {
  return [args].flat(2).filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
