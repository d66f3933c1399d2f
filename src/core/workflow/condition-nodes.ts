import type { ASTNode } from '@marcbachmann/cel-js';

/** A condition as a tree. */

export type Node = ASTNode;

/** Those directly within: of an access what it reaches into, of a call what it is called on and with. */
export function partsOf({ args }: Node): Node[] {
  return [args].flat(2).filter(isNode);
}

/** What is found in the first part in which anything is. */
export function firstOf<T>(parts: readonly Node[], find: (part: Node) => T | null): T | null {
  for (const part of parts) {
    const found = find(part);
    if (found !== null) return found;
  }
  return null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
