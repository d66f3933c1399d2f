import type { Environment } from '@marcbachmann/cel-js';
import { firstOf, type Node, partsOf } from './condition-nodes.ts';
import { holds } from './text-search.ts';

/**
 * What conditions may call, and what is called in its place: each takes time in proportion to what it is given, or can
 * be ended.
 */

const macros = ['has', 'all', 'exists', 'exists_one', 'filter', 'map'];
const ofTexts = ['size', 'startsWith', 'endsWith', 'contains', 'lowerAscii', 'upperAscii', 'trim'];
const ofTypes = ['bool', 'int', 'uint', 'double', 'string', 'type', 'dyn', 'timestamp', 'duration'];
const ofOptionals = ['of', 'none', 'hasValue', 'value', 'or', 'orValue'];
const ofTimes = [
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
];
const available = new Set([...macros, ...ofTexts, ...ofTypes, ...ofOptionals, ...ofTimes]);

/** Of a duration and of a time zone: to read long ones takes longer than their length. */
const briefCharsMax = 64;
const takesTransient = new Set(['duration', ...ofTimes]);

const accesses: ReadonlySet<string> = new Set(['[]', '[?]']);

/** The library lets nobody replace a function: these stand in for its own. No condition may call them by their names. */
const ownContains = 'contains_of_ours';
const ownTransient = 'brief_of_ours';
const ownKey = 'key_of_ours';
const evaluator = 'evaluator_of_ours';

export function registerOwn(environment: Environment): void {
  environment
    .registerFunction(`string.${ownContains}(string): bool`, holds)
    .registerFunction(`${ownTransient}(dyn): string`, (text: unknown) => {
      if (typeof text !== 'string') throw new Error('A duration and a time zone are texts.');
      if (text.length <= briefCharsMax) return text;
      throw new Error(
        `A duration and a time zone may have ${briefCharsMax} characters, not ${text.length}.`,
      );
    })
    .registerFunction(`${ownKey}(dyn): dyn`, keyed)
    .registerFunction(`${evaluator}(): dyn`, keepFewTypes);
  environment.parse(`${evaluator}()`)();
}

interface Evaluator {
  readonly debugType: (value: unknown) => unknown;
  debugTypeDeep: (value: unknown) => unknown;
}

/**
 * The library tells the type of a list by its first element, and so on all the way down, and keeps each type that it has
 * seen for good: whoever sends ever new nestings would fill the memory. A list is a list, whatever it holds.
 */
function keepFewTypes(this: Evaluator): boolean {
  this.debugTypeDeep = this.debugType;
  return true;
}

/** The engine makes a text of any key; of a list of lists that takes long, is large and cannot be ended. */
function keyed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.defineProperty(value, Symbol.toPrimitive, { value: noKey, configurable: true });
}

function noKey(): never {
  throw new Error('A list or a map is no key.');
}

/** What a condition calls that is not available. */
export function unavailable(node: Node): string | null {
  if (isCall(node) && !available.has(node.args[0])) return node.args[0];
  return firstOf(partsOf(node), unavailable);
}

/** Before the condition is checked: what a name stands for is looked up only then. */
export function putOwn(environment: Environment, node: Node): void {
  for (const part of partsOf(node)) putOwn(environment, part);
  const put = (parts: unknown[], at: number, own: string) => {
    const { ast } = environment.parse(`${own}("")`);
    if (ast.op === 'call') ast.args[1][0] = parts[at] as Node;
    parts[at] = ast;
  };
  if (isCall(node)) {
    const [name] = node.args;
    const given = node.args.at(-1) as Node[];
    if (name === 'contains') node.args[0] = ownContains;
    if (takesTransient.has(name)) for (const at of given.keys()) put(given, at, ownTransient);
  }
  if (accesses.has(node.op)) put(node.args as Node[], 1, ownKey);
  if (node.op === 'in') put(node.args, 0, ownKey);
  if (node.op === 'map') for (const entry of node.args) put(entry, 0, ownKey);
}

/** As the condition was written. */
export function withoutOwn(message: string): string {
  return message.replaceAll(ownContains, 'contains');
}

type Call = Extract<Node, { op: 'call' | 'rcall' }>;

export function isCall(node: Node): node is Call {
  return node.op === 'call' || node.op === 'rcall';
}
