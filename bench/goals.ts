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
  const missed = goalChecks.filter((check) => !isMet(check));
  const list = (label: string, checks: readonly GoalCheck[]) =>
    checks.length === 0 ? [] : [`${label}: ${checks.map(describe).join('; ')}.`];
  return [...list('Met', goalChecks.filter(isMet)), ...list('Missed', missed)].join(' ');
}

function isMet({ value, least, most }: GoalCheck): boolean {
  return (
    value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)
  );
}

function describe({ what, value, unit, least, most }: GoalCheck): string {
  const format = (figure = 0) =>
    figure.toLocaleString('en-US', { maximumFractionDigits: 2 }) + (unit ? ` ${unit}` : '');
  const bound = least === undefined ? `at most ${format(most)}` : `at least ${format(least)}`;
  return `${what} ${format(value)} (${bound})`;
}

/** The first number in a cell, which is the median. The first cell identifies the row. */
export function figure(table: Table | undefined, row: string, column: number): number {
  return numberOf(table?.rows.find(([name]) => name === row)?.[column], `${row}, ${column}`);
}

/** The figures of a column, except empty cells and the given row. */
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
