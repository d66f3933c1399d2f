import { Document, parseDocument, visit } from 'yaml';
import { changedNumber } from '../../core/json.ts';
import { CommandFailure } from './failure.ts';
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

/** Warnings, such as an unknown tag, are errors too: part of the value would be lost. */
export function fromYaml(text: string, file: string): unknown {
  const document = parseDocument(text);
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong) throw unreadable(file, wrong);
  requireExactNumbers(document, file);
  try {
    const value: unknown = document.toJS();
    // Fails for a circular alias.
    JSON.stringify(value);
    return value;
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
