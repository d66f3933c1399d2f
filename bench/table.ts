import { ratios, type Series, type Spread, spread } from './rounds.ts';

/** A Markdown table, aligned to be readable as plain text. */
export interface Table {
  readonly title?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Lines below the table. */
  readonly notes?: readonly string[];
}

export function markdown({ title, columns, rows, notes = [] }: Table): string {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [
    ...(title ? [`${title}:`, ''] : []),
    line(columns),
    rule,
    ...rows.map(line),
    ...notes.flatMap((note) => ['', note]),
  ].join('\n');
}

/** One row per contender, with its ratio to the first one, round by round. */
export function throughput(series: readonly Series[], unit: string): Table {
  const [base] = series;
  if (!base) throw new Error('no contender was measured');
  return {
    columns: [
      'contender',
      `${unit}/s`,
      `of ${base.contender.name}`,
      'p50 / p99',
      'µs CPU per request: server + store + generator',
      'durability',
    ],
    rows: series.map((one) => [
      one.contender.name,
      withRange(spread(one.samples.map(({ perSecond }) => perSecond)), whole),
      one === base ? '1' : withRange(ratios(one, base), hundredths),
      `${milliseconds(median(one, (sample) => sample.p50Ms))} / ${milliseconds(median(one, (sample) => sample.p99Ms))}`,
      (['server', 'store', 'generator'] as const)
        .map((who) => whole(median(one, (sample) => sample.cpu[who])))
        .join(' + '),
      one.contender.durability,
    ]),
  };
}

/** `median (min–max)` */
export function withRange({ median, min, max }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(min)}–${format(max)})`;
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
export const hundredths = (value: number) => value.toFixed(2);
export const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

function median(series: Series, of: (sample: Series['samples'][number]) => number): number {
  return spread(series.samples.map(of)).median;
}
