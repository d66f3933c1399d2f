/**
 * Checks a file of calls before it is sent, a piece at a time, so that the page stays responsive whatever its size. It finds
 * what the server would refuse without looking at labels, files and schemas; the server checks every line again.
 */

export interface CheckedFile {
  /** Lines that are not blank. */
  readonly lines: number;
  readonly invalid: number;
  /** The first invalid lines. */
  readonly problems: readonly LineProblem[];
  /** Why the server would refuse the whole file; null if it would not. */
  readonly refusal: string | null;
}

export interface LineProblem {
  /** From 1; blank lines count. */
  readonly line: number;
  readonly text: string;
}

/** Limits of the API. */
const [linesMax, fileBytesMax, lineBytesMax, idMax] = [50_000, 104_857_600, 1_048_576, 200];
const problemsMax = 100;
const fields = ['id', 'variables', 'user', 'session', 'tags', 'metadata'];
/** How long the page waits for a piece. */
const pieceMs = 8;

export async function checkFile(
  file: Blob,
  required: readonly string[],
  signal?: AbortSignal,
): Promise<CheckedFile> {
  const state = { lines: 0, invalid: 0, problems: [] as LineProblem[] };
  const refused = (refusal: string) => ({ ...state, refusal });
  if (file.size > fileBytesMax) return refused('The file has more than 100 MiB.');
  const ids = new Set<string>();
  let pausedAt = performance.now();
  let number = 0;
  for await (const bytes of linesOf(file)) {
    signal?.throwIfAborted();
    number++;
    const text = bytes === null ? null : decode(bytes);
    if (/^[ \t\r]*$/.test(text ?? '-')) continue;
    state.lines++;
    if (state.lines > linesMax) return refused('The file has more than 50,000 lines.');
    const problem = problemOf(text, ids, required);
    if (problem !== null) {
      state.invalid++;
      if (state.problems.length < problemsMax) state.problems.push({ line: number, text: problem });
    }
    if (performance.now() - pausedAt < pieceMs) continue;
    await new Promise((resolve) => setTimeout(resolve));
    pausedAt = performance.now();
  }
  return state.lines === 0 ? refused('The file contains no line.') : { ...state, refusal: null };
}

const lineFeed = 0x0a;

/** The bytes of each line, null for one that is too long. */
async function* linesOf(file: Blob): AsyncGenerator<Uint8Array | null, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (bytes: Uint8Array) => {
    length += bytes.length;
    if (length <= lineBytesMax + 1) parts.push(bytes);
  };
  const take = () => {
    const line = length > lineBytesMax + 1 ? null : joined(parts, length);
    [parts, length] = [[], 0];
    return line;
  };
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    let from = 0;
    for (let at = value.indexOf(lineFeed); at >= 0; at = value.indexOf(lineFeed, from)) {
      add(value.subarray(from, at));
      yield take();
      from = at + 1;
    }
    add(value.subarray(from));
  }
  if (length > 0) yield take();
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [single] = parts;
  if (single && parts.length === 1) return single;
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Undefined if it is not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** In the words of the server. Adds the id of the line. */
function problemOf(
  text: string | null | undefined,
  ids: Set<string>,
  required: readonly string[],
): string | null {
  if (text === null) return 'The line is too long.';
  if (text === undefined) return 'The line is not valid UTF-8.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'The line is not valid JSON.';
  }
  if (!isObject(value)) return 'The line must be a JSON object.';
  const { id, variables } = value;
  if (typeof id !== 'string' || id === '' || [...id].length > idMax)
    return `Field "id" must be a string of 1 to ${idMax} characters.`;
  if (ids.has(id)) return 'An earlier line has the same id.';
  ids.add(id);
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    return `Unknown field ${JSON.stringify(unknown)}. Allowed: ${fields.join(', ')}.`;
  if (variables !== undefined && !isObject(variables))
    return 'Field "variables" must be an object.';
  const missing = required.filter((name) => (variables?.[name] ?? null) === null);
  if (missing.length > 0) return `Required variables are missing: ${missing.join(', ')}.`;
  return variables === undefined ? 'Field "variables" is missing.' : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
