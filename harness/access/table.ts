import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line of the handwritten `table.csv`: the status that each caller gets at a route. */
export interface Row {
  readonly method: string;
  /** In OpenAPI's style. */
  readonly path: string;
  /** Distinguishes the rows of a route; empty by default. Agents are public, deployed and created by the owner. */
  readonly note: string;
  /** By the name of the caller. */
  readonly statuses: ReadonlyMap<string, number>;
}

/** The callers of the first column; they always get the same status. */
const withoutValidKey = ['none', 'malformed', 'unknown', 'revoked', 'expired', 'removed key'];

export function readTable(): readonly Row[] {
  const text = readFileSync(join(import.meta.dirname, 'table.csv'), 'utf8');
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const callers = header.split(',').slice(4);
  return lines.map((line) => {
    const [method = '', path = '', note = '', noValidKey, ...statuses] = line.split(',');
    if (statuses.length !== callers.length) throw new Error(`wrong number of cells: ${line}`);
    return {
      method,
      path,
      note,
      statuses: new Map([
        ...withoutValidKey.map((name) => [name, Number(noValidKey)] as const),
        ...callers.map((name, index) => [name, Number(statuses[index])] as const),
      ]),
    };
  });
}
