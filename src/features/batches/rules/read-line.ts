import { type ExecuteBody, parseExecuteBody } from '../../../core/agent/variables.ts';
import { lineIdMax } from '../../../core/batch/batch.ts';
import { computeJob } from '../../../core/compute.ts';
import { unknownName } from '../../../core/failure.ts';
import { compact, isStorable, members } from '../../../core/json.ts';
import { labelFields } from '../../../core/labels.ts';

/** Reads a line of a batch: `{"id", "variables", user?, session?, tags?, metadata?}`. */

/** Null for a line whose id cannot be read. */
export interface ReadLine {
  readonly id: string | null;
  readonly body: ExecuteBody;
}

const allowed: readonly string[] = ['id', 'variables', ...labelFields];

/** A long line is read in the compute thread, which gets a copy of its bytes. Null for one that is too long. */
export function readLineBytes(bytes: Uint8Array | null): ReadLine {
  if (bytes === null)
    return { id: null, body: { kind: 'too-large', message: 'The line is too long.' } };
  try {
    return readLine(decoder.decode(bytes));
  } catch {
    return { id: null, body: { kind: 'malformed', message: 'The line is not valid UTF-8.' } };
  }
}

export const readLineBytesJob = computeJob(import.meta.url, readLineBytes);

const decoder = new TextDecoder('utf-8', { fatal: true });

export function readLine(text: string): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: null, body: { kind: 'malformed', message: 'The line is not valid JSON.' } };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused(null, 'The line must be a JSON object.');
  }
  const found = members(compact(text));
  const id = idOf(found.findLast(({ name }) => name === 'id')?.text);
  if (id === null) {
    return refused(null, `Field "id" must be a string of 1 to ${lineIdMax} characters.`);
  }
  const unknown = found.find(({ name }) => !allowed.includes(name));
  if (unknown) {
    return refused(id, unknownName(`Field ${JSON.stringify(unknown.name.slice(0, 100))}`, allowed));
  }
  const rest = found.filter(({ name }) => name !== 'id');
  const body = rest.map(({ name, text: json }) => `${JSON.stringify(name)}:${json}`).join(',');
  return { id, body: parseExecuteBody(`{${body}}`) };
}

function idOf(text: string | undefined): string | null {
  if (!text?.startsWith('"') || !isStorable(text)) return null;
  const id = JSON.parse(text) as string;
  const length = id.length > 2 * lineIdMax ? id.length : [...id].length;
  return length >= 1 && length <= lineIdMax ? id : null;
}

function refused(id: string | null, message: string): ReadLine {
  return { id, body: { kind: 'invalid', message, variable: null } };
}
