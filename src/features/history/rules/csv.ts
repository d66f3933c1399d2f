export type Cell = string | number | boolean | null;

/**
 * One record of CSV (RFC 4180). Every text is quoted, and a text that could be a formula starts with an apostrophe.
 * Full-width formula signs count too.
 */
export function csvLine(cells: readonly Cell[]): string {
  return record(cells, guardStart);
}

/**
 * The same for a spreadsheet whose locale splits cells at semicolons or tabs, which ignores the quotes: an apostrophe also
 * precedes formula signs that would then start a cell.
 */
export function spreadsheetLine(cells: readonly Cell[]): string {
  return record(cells, (text) => guardStart(text).replaceAll(signAfterSeparator, "$1'"));
}

const signs = '=+\\-@＝＋－＠';
const signAtStart = new RegExp(`^[${signs}\\t\\r\\n]`);
/** A quote after the separator opens a quoted cell, and spreadsheets skip blanks. */
const signAfterSeparator = new RegExp(`([;\\t\\r\\n]["\\s]*)(?=[${signs}])`, 'g');

function guardStart(text: string): string {
  return signAtStart.test(text) ? `'${text}` : text;
}

function record(cells: readonly Cell[], guard: (text: string) => string): string {
  const texts = cells.map((cell) => {
    if (cell === null) return '';
    return typeof cell === 'string' ? `"${guard(cell).replaceAll('"', '""')}"` : String(cell);
  });
  return `${texts.join(',')}\r\n`;
}
