import { OutputClosed } from './failure.ts';

/**
 * What commands answer, on standard output. With `json` an object on one line, a list as one such line for each entry;
 * else text for people, in which fields go by the names that they have in JSON.
 */

/** A line or more. Resolves when all of it is out: the process may end right after, and a pipe may be slow. */
export function print(text: string): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new OutputClosed(error));
    stdout.once('error', fail);
    stdout.write(`${stdout.isTTY ? harmless(text) : text}\n`, (error) => {
      if (error) return fail(error);
      stdout.off('error', fail);
      resolve();
    });
  });
}

/** What was done to one thing: as text a sentence, as JSON the thing. */
export function printDone(record: object, text: string, json: boolean): Promise<void> {
  return print(json ? JSON.stringify(record) : text);
}

export async function printOne(record: object, json: boolean): Promise<void> {
  if (json) return print(JSON.stringify(record));
  const entries = Object.entries(record);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, value]) => {
    const text = shown(value);
    return text.includes('\n')
      ? `${name}\n${text.replaceAll(/^/gm, '  ')}`
      : `${name.padEnd(width)}  ${text}`;
  });
  return print(lines.join('\n'));
}

/** Rows that are laid out together: later ones keep to the columns of the first. */
const blockRows = 100;

/** As text a table of these fields; as JSON all that there is. */
export async function printList<Row extends object>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  fields: readonly (keyof Row & string)[],
  json: boolean,
): Promise<void> {
  let block: string[][] = [[...fields]];
  let widths: number[] | null = null;
  const flush = async () => {
    widths ??= fields.map((_, at) => Math.max(...block.map((cells) => cells[at]?.length ?? 0)));
    const lines = block.map((cells) => line(cells, widths ?? []));
    block = [];
    if (lines.length > 0) await print(lines.join('\n'));
  };
  for await (const row of rows) {
    if (json) await print(JSON.stringify(row));
    else if (block.push(fields.map((field) => oneLine(shown(row[field])))) > blockRows)
      await flush();
  }
  if (!json) await flush();
}

/** One line for people beside the answer, on standard error. */
export function note(text: string): void {
  console.error(oneLine(text));
}

/** Without what steers a terminal: a model, or whoever names an agent, must not reach further than the text. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** The same in one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join('  ')
    .trimEnd();
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.join(', ') || '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
