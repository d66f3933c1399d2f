import { CommandFailure } from '../client/command-failure.ts';
import { type Located, textFile } from './located.ts';

/** Tests in CSV: a column for each variable, `__expected` with an assertion, and `__description`. */

export function parseTable(text: string, path: string): Located[] {
  const [header, ...rows] = rowsOf(text, path);
  if (!header) return [];
  return rows.map(({ cells, line }) => {
    const vars: Record<string, string> = {};
    const others: Record<string, unknown> = {};
    const assert: object[] = [];
    for (const [index, column] of header.cells.entries()) {
      const name = column.trim();
      const cell = cells[index] ?? '';
      if (!name.startsWith('__')) vars[name] = cell;
      else if (/^__expected\d*$/.test(name)) assert.push(...assertionOf(cell));
      else if (name === '__description') others.description = cell;
      else if (!name.startsWith('__metadata') && cell !== '') others[name] = cell;
    }
    return textFile('', path, line).with({ vars, assert, ...others });
  });
}

/** `TYPE: VALUE`, or the text that the output equals. */
function assertionOf(cell: string): object[] {
  if (cell.trim() === '') return [];
  const [, type, threshold, value = ''] =
    /^\s*((?:not-)?[a-z]+(?:-[a-z]+)*)(?:\(([\d.]+)\))?:\s*(.*)$/s.exec(cell) ?? [];
  if (type !== undefined)
    return [{ type, value, ...(threshold && { threshold: Number(threshold) }) }];
  if (/^(not-)?is-json$/.test(cell.trim())) return [{ type: cell.trim() }];
  return [{ type: 'equals', value: cell }];
}

/** The rows of RFC 4180 with the line where each begins. Blank rows are left out. */
function rowsOf(text: string, path: string): { cells: string[]; line: number }[] {
  const rows: { cells: string[]; line: number }[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  let cells: string[] = [];
  let line = 1;
  let start = 1;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (!match) throw new CommandFailure(`${path}:${line}: The quotes of a cell do not match.`);
    const [whole, quoted, plain = '', end = ''] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',' && at + whole.length < text.length) continue;
    if (end === ',') cells.push('');
    if (cells.some((one) => one !== '')) rows.push({ cells, line: start });
    cells = [];
    start = line;
  }
  return rows;
}
