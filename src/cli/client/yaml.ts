import { Document, parseDocument, visit } from 'yaml';
import { changedNumber } from '../../core/json.ts';
import { CommandFailure } from './failure.ts';
import { oneLine } from './print.ts';

/** YAML for what is sent and answered as JSON: nothing becomes another value on the way. */

/** Texts of several lines stand as they are, and no line is folded. */
export function toYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      // As a block of lines, a text of nothing but blanks would be read as another one.
      if (typeof scalar.value === 'string' && /^\s+$/.test(scalar.value)) {
        scalar.type = 'QUOTE_DOUBLE';
      }
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** What is only doubtful YAML, such as a tag that nobody knows, is refused too: a part of it would be lost. */
export function fromYaml(text: string, file: string): unknown {
  const document = parseDocument(text);
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong) throw unreadable(file, wrong);
  visit(document, {
    Scalar(_, scalar) {
      if (isPreserved(scalar)) return;
      const number = oneLine(scalar.source ?? '');
      throw new CommandFailure(
        `${file}: The number ${number} would be stored as another one. Write it as a text.`,
      );
    },
  });
  try {
    const value: unknown = document.toJS();
    // An alias may lead back to what it stands in.
    JSON.stringify(value);
    return value;
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

function unreadable(file: string, error: Error): CommandFailure {
  return new CommandFailure(`${file} is no YAML: ${oneLine(error.message)}`, { cause: error });
}

/** Whether a scalar is no number, or still the one that was written. */
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
  // YAML's `+1`, `.5` and `5.` are no JSON.
  const decimal = source
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=e|$)/i, '');
  return changedNumber(decimal) === null;
}
