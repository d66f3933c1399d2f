import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { changedNumber } from '../../core/json.ts';
import { CommandFailure } from './command-failure.ts';
import { oneLine } from './print.ts';

/** YAML for values that the API sends and receives as JSON. No value changes in the conversion. */

/** Multi-line strings are written as blocks. Lines are not folded. */
export function toYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      // A blank string in block style would be parsed as a different string.
      if (typeof scalar.value === 'string' && /^\s+$/.test(scalar.value)) {
        scalar.type = 'QUOTE_DOUBLE';
      }
    },
  });
  return document.toString({ lineWidth: 0 });
}

export type YamlPath = readonly (string | number)[];

export interface YamlValue {
  readonly value: unknown;
  /** The line of a value, or of what contains it in the text; of a part of its text if one is given. */
  readonly lineOf: (path: YamlPath, part?: string) => number;
}

interface YamlOptions {
  /** Whether `<<` merges objects. */
  readonly merge?: boolean;
  /** How the message about an invalid text begins. */
  readonly refusal?: (line: number) => string;
}

/** Warnings, such as an unknown tag, are errors too: part of the value would be lost. */
export function readYaml(text: string, file: string, options: YamlOptions = {}): YamlValue {
  const { merge = false, refusal = () => `${file} is not valid YAML` } = options;
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge });
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong) throw unreadable(refusal(lineCounter.linePos(wrong.pos[0]).line), wrong);
  requireExactNumbers(document, file);
  try {
    const value: unknown = document.toJS();
    // Fails for a circular alias.
    JSON.stringify(value);
    return { value, lineOf };
  } catch (error) {
    throw unreadable(`${file} is not valid YAML`, error as Error);
  }

  function lineOf(path: YamlPath, part?: string): number {
    const [start, end] = rangeOf(document, path);
    const at = part === undefined ? -1 : text.slice(start, end).indexOf(part);
    return lineCounter.linePos(at < 0 ? start : start + at).line;
  }
}

/** Fails if a number would change when it is stored. */
function requireExactNumbers(document: Document.Parsed, file: string): void {
  visit(document, {
    Scalar(_, scalar) {
      if (isPreserved(scalar)) return;
      const number = oneLine(scalar.source ?? '');
      throw new CommandFailure(
        `${file}: The number ${number} cannot be stored exactly. Quote it to store it as a string.`,
      );
    },
  });
}

/** Where the node at a path begins and ends: of its name in an object. As near as the path leads, through aliases and merged objects. */
function rangeOf(document: Document.Parsed, path: YamlPath): readonly [number, number] {
  let node: unknown = document.contents;
  let range: readonly [number, number] = [0, 0];
  const enter = (next: unknown, named: unknown = next) => {
    const [start = range[0]] = (named as Node | null)?.range ?? [];
    const end = (next as Node | null)?.range?.[1] ?? start;
    range = [start, end];
    node = isAlias(next) ? next.resolve(document) : next;
  };
  enter(node);
  for (const step of path) {
    if (isSeq(node)) enter(node.items[Number(step)]);
    else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (!pair) break;
      enter(pair.value, pair.key);
    } else break;
  }
  return range;
}

function unreadable(beginning: string, error: Error): CommandFailure {
  return new CommandFailure(`${beginning}: ${oneLine(error.message)}`, { cause: error });
}

/** Whether a scalar is not a number, or a number that is stored exactly. */
function isPreserved({
  value,
  source,
}: {
  readonly value: unknown;
  readonly source?: string;
}): boolean {
  if (typeof value !== 'number' || source === undefined) return true;
  if (!Number.isFinite(value)) return false;
  if (/^0[ox]/.test(source)) return BigInt(source) === BigInt(value);
  // YAML also accepts `+1`, `.5` and `5.`.
  const decimal = source
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=e|$)/i, '');
  return changedNumber(decimal) === null;
}
