import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The table of docs/access.md: what each caller is answered at each route. It is written, not made. */

export interface Row {
  readonly method: string;
  /** In OpenAPI's style. */
  readonly path: string;
  /** What of several things it is called for; empty where that makes no difference. */
  readonly note: string;
  /** By the name of the caller. */
  readonly statuses: ReadonlyMap<string, number>;
}

const file = join(import.meta.dirname, '..', '..', 'docs', 'access.md');

/** The columns of callers with keys and without, and of those with a session, as the document heads them. */
export function readTable(): {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
} {
  const lines = readFileSync(file, 'utf8').split('\n');
  const head = lines.find((line) => line.startsWith('| call'));
  const columns = cells(head ?? '').slice(2);
  const rows = lines
    .filter((line) => /^\| `[A-Z]+ \//.test(line))
    .map((line) => {
      const [call = '', note = '', ...statuses] = cells(line);
      const [method = '', path = ''] = call.replaceAll('`', '').split(' ');
      if (statuses.length !== columns.length) throw new Error(`${call} has not a cell for each`);
      return {
        method,
        path,
        note,
        statuses: new Map(columns.map((name, i) => [name, Number(statuses[i])])),
      };
    });
  return { columns, rows };
}

function cells(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
