import { childrenOf, isCall, isListMacro, type Node } from './condition-shape.ts';

/**
 * Where a condition reads into the output of a step: `steps.triage.output.kind`, a list macro on an output, and `in` an
 * output. Everything else, such as `steps.triage.output == "billing"`, takes the output as a whole.
 */
export interface OutputRead {
  readonly step: string;
  /** The access that gives the output. */
  readonly access: Access;
  /** The longest path that begins with it, or the call of `has` around that. */
  readonly whole: Node;
}

type Access = Extract<Node, { op: '.' | '.?' | '[]' | '[?]' }>;

/** Beside `output` in the data of a step: the JSON in its text. */
export const readName = '#json';

export function outputReads(root: Node): OutputRead[] {
  const reads: OutputRead[] = [];
  const visit = (node: Node, above: readonly Node[]): void => {
    const step = isAccess(node) && nameOf(node) === 'output' ? stepOf(node.args[0]) : null;
    const whole = step === null ? null : readAround(node, above);
    if (step !== null && whole) reads.push({ step, access: node as Access, whole });
    for (const child of childrenOf(node)) visit(child, [node, ...above]);
  };
  visit(root, []);
  return reads;
}

/** Lets the condition read the JSON in the texts of the steps. */
export function readJson(root: Node): void {
  for (const { access } of outputReads(root)) {
    if (access.op === '.' || access.op === '.?') Object.assign(access, named(access.args[0]));
    else Object.assign(access.args[1], { args: readName });
  }

  function named(of: Node) {
    return { args: [of, readName] };
  }
}

/** The text of the condition in which everything that is read from these steps is null. */
export function withNulls(text: string, root: Node, steps: ReadonlySet<string>): string {
  const reads = outputReads(root).filter(({ step }) => steps.has(step));
  let out = '';
  let from = 0;
  for (const { whole } of reads.sort((one, other) => one.whole.start - other.whole.start)) {
    out += text.slice(from, whole.start) + nothing(whole);
    from = whole.end;
  }
  return out + text.slice(from);
}

/** `steps.NAME` and `steps["NAME"]`. */
export function stepOf(node: Node): string | null {
  if (node.op !== '.' && node.op !== '[]') return null;
  const [of] = node.args;
  return of.op === 'id' && of.args === 'steps' ? nameOf(node) : null;
}

function nameOf({ args: [, name] }: Access): string | null {
  if (typeof name === 'string') return name;
  return name.op === 'value' && typeof name.args === 'string' ? name.args : null;
}

function isAccess(node: Node): node is Access {
  return node.op === '.' || node.op === '.?' || node.op === '[]' || node.op === '[?]';
}

function readAround(output: Node, above: readonly Node[]): Node | null {
  let top = output;
  let parent: Node | undefined;
  for (parent of above) {
    if (!isAccess(parent) || parent.args[0] !== top) break;
    top = parent;
  }
  if (top !== output) return parent && isHas(parent) ? parent : top;
  if (!parent) return null;
  const isRead = isListMacro(parent) ? parent.args[1] === top : isIn(parent, top);
  return isRead ? top : null;
}

function isHas(node: Node): boolean {
  return isCall(node) && node.args[0] === 'has';
}

function isIn(node: Node, list: Node): boolean {
  return node.op === 'in' && node.args[1] === list;
}

function nothing(whole: Node): string {
  if (isHas(whole)) return 'false';
  for (let node = whole; isAccess(node); node = node.args[0]) {
    if (node.op === '.?' || node.op === '[?]') return 'optional.none()';
  }
  // The type of a plain null would be checked.
  return 'dyn(null)';
}
