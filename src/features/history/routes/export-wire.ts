import type { Execution } from '../../../core/execution/execution-fields.ts';
import { sentOf, shownFields } from '../../../core/execution/shown-fields.ts';
import { toJson } from '../../../http/response/json-response.ts';
import { executionDetailWire } from '../../executions/routes/execution-wire.ts';
import { type Cell, csvLine, spreadsheetLine } from '../rules/csv.ts';

/** The export formats: the header and the line of each record. */

export interface ExportForm {
  readonly mediaType: string;
  readonly head: string;
  line(row: Execution): string;
}

/** `output` has no column, because it equals `outputText`. */
const columns = shownFields
  .filter(({ csv }) => csv !== undefined)
  .toSorted((one, other) => (one.csv ?? 0) - (other.csv ?? 0));

/** Texts as they are, lists and objects as JSON. */
function cellOf(value: unknown): Cell {
  if (value === undefined) return null;
  return typeof value === 'object' && value !== null ? toJson(value) : (value as Cell);
}

/** Names without special characters, so they need no quotes. */
const csvHead = `${columns.map(({ name }) => name).join(',')}\r\n`;
const csvMediaType = 'text/csv; charset=utf-8; header=present';

function cellsOf(row: Execution): Cell[] {
  const sent = sentOf(row);
  return columns.map(({ read }) => cellOf(read(row, sent)));
}

export const exportForms: Readonly<Record<'jsonl' | 'csv' | 'spreadsheet', ExportForm>> = {
  jsonl: {
    mediaType: 'application/jsonl; charset=utf-8',
    head: '',
    line: (row) => `${toJson(executionDetailWire(row))}\n`,
  },
  csv: {
    mediaType: csvMediaType,
    head: csvHead,
    line: (row) => csvLine(cellsOf(row)),
  },
  // Without the mark, spreadsheets read UTF-8 as the local code page.
  spreadsheet: {
    mediaType: csvMediaType,
    head: `\uFEFF${csvHead}`,
    line: (row) => spreadsheetLine(cellsOf(row)),
  },
};
