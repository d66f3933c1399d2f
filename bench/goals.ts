import type { Table } from './table.ts';

/** One figure of a goal, with its lower or upper bound. */
export interface GoalCheck {
  readonly what: string;
  readonly value: number;
  readonly unit?: string;
  readonly least?: number;
  readonly most?: number;
}

/** The line below a goal: `Met: … 22 ms (at most 30 ms). Missed: … 0.31 (at least 0.5).` */
export function verdict(goalChecks: readonly GoalCheck[]): string {
  const told = (word: string, those: readonly GoalCheck[]) =>
    those.length === 0 ? [] : [`${word}: ${those.map(asked).join('; ')}.`];
  return [
    ...told('Met', goalChecks.filter(isMet)),
    ...told(
      'Missed',
      goalChecks.filter((mark) => !isMet(mark)),
    ),
  ].join(' ');
}

function isMet({ value, least, most }: GoalCheck): boolean {
  return (
    value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)
  );
}

function asked({ what, value, unit, least, most }: GoalCheck): string {
  const form = (figure = 0) => formed(figure) + (unit ? ` ${unit}` : '');
  const bound = least === undefined ? `at most ${form(most)}` : `at least ${form(least)}`;
  return `${what} ${form(value)} (${bound})`;
}

function formed(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** The first number in a cell, which is the median. The row is found by its first cell. */
export function figure(table: Table | undefined, row: string, column: number): number {
  return numberOf(table?.rows.find(([name]) => name === row)?.[column], `${row}, ${column}`);
}

/** The figures of a column, without empty cells and without the given row. */
export function figures(table: Table | undefined, column: number, without = ''): number[] {
  const rows = table?.rows.filter((row) => row[0] !== without && row[column]) ?? [];
  if (rows.length === 0) throw new Error(`no figures in column ${column}`);
  return rows.map((row) => numberOf(row[column], `${row[0]}, ${column}`));
}

function numberOf(cell: string | undefined, where: string): number {
  const value = Number.parseFloat(cell?.replaceAll(',', '') ?? '');
  if (Number.isNaN(value)) throw new Error(`no figure in ${where}`);
  return value;
}
