import { OutputClosed } from './command-failure.ts';

/**
 * Output of commands on standard output. With `json`, one object per line; otherwise text, with the
 * field names of the API.
 */

/**
 * Prints one or more lines. Resolves when they are flushed: the process may exit right after, and
 * pipes can be slow.
 */
export function print(text: string): Promise<void> {
  return printText(`${text}\n`);
}

/** Prints a part of a line, likewise. */
export function printText(text: string): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new OutputClosed(error));
    stdout.once('error', fail);
    stdout.write(stdout.isTTY ? stripControlCharacters(text) : text, (error) => {
      if (error) return fail(error);
      stdout.off('error', fail);
      resolve();
    });
  });
}

/** Prints the result of an action: a sentence, or the record as JSON. */
export function printDone(record: object, text: string, json: boolean): Promise<void> {
  return print(json ? JSON.stringify(record) : text);
}

export async function printOne(record: object, json: boolean): Promise<void> {
  if (json) return print(JSON.stringify(record));
  const entries = Object.entries(record);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, value]) => {
    const text = formatValue(value);
    return text.includes('\n')
      ? `${name}\n${text.replaceAll(/^/gm, '  ')}`
      : `${name.padEnd(width)}  ${text}`;
  });
  return print(lines.join('\n'));
}

/** Rows per block. The first block determines the column widths. */
const blockRows = 100;

/** Prints a table of these fields or, as JSON, complete records. */
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
    else if (block.push(fields.map((field) => oneLine(formatValue(row[field])))) > blockRows)
      await flush();
  }
  if (!json) await flush();
}

/** Prints one line to standard error, separate from the output. */
export function printNotice(text: string): void {
  console.error(oneLine(text));
}

/** Removes control characters, so that model output or names cannot control the terminal. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}

/** Replaces line breaks and control characters by spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join('  ')
    .trimEnd();
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.join(', ') || '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
