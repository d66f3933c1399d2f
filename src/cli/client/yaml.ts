import { Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
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

export function fromYaml(text: string, file: string): unknown {
  return readYaml(text, file).value;
}

export type YamlPath = readonly (string | number)[];

export interface YamlValue {
  readonly value: unknown;
  /** The line of a value, or of what contains it in the text. */
  readonly lineOf: (path: YamlPath) => number;
}

/** Warnings, such as an unknown tag, are errors too: part of the value would be lost. */
export function readYaml(text: string, file: string): YamlValue {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong) throw unreadable(file, wrong);
  requireExactNumbers(document, file);
  try {
    const value: unknown = document.toJS();
    // Fails for a circular alias.
    JSON.stringify(value);
    return {
      value,
      lineOf: (path) => lineCounter.linePos(offsetOf(document, path)).line,
    };
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

/** Fails if a number would change when it is stored. */
export function requireExactNumbers(document: Document.Parsed, file: string): void {
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

/** Of the name of a member, or of the value if it is no member. */
function offsetOf(document: Document.Parsed, path: YamlPath): number {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const name = path[depth - 1];
    const pair =
      isMap(parent) && parent.items.find(({ key }) => isScalar(key) && key.value === name);
    const node = pair ? pair.key : document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function unreadable(file: string, error: Error): CommandFailure {
  return new CommandFailure(`${file} is not valid YAML: ${oneLine(error.message)}`, {
    cause: error,
  });
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
