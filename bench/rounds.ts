import type { Contender, Opened } from './contenders/contender.ts';
import type { BenchEnvironment } from './environment.ts';
import type { Sample } from './measure.ts';

/** All samples of a contender, in the order of the rounds. */
export interface Series {
  readonly contender: Contender;
  readonly samples: readonly Sample[];
}

export interface Entry {
  readonly contender: Contender;
  readonly measure: (opened: Opened) => Promise<Sample>;
}

/** Rounds that are not counted: the JIT compiler needs about ten seconds of load. */
export const warmUps = 3;

/** Contenders alternate (A B C, A B C, …), so that other load on the machine affects all of them alike. */
export async function inAlternation(
  environment: BenchEnvironment,
  entries: readonly Entry[],
  rounds: number,
): Promise<Series[]> {
  const open: { entry: Entry; opened: Opened; samples: Sample[] }[] = [];
  try {
    for (const entry of entries) {
      open.push({ entry, opened: await entry.contender.open(environment), samples: [] });
    }
    for (let round = -warmUps; round < rounds; round++) {
      for (const { entry, opened, samples } of open) {
        const sample = await entry.measure(opened);
        if (round >= 0) samples.push(sample);
      }
    }
    return open.map(({ entry, samples }) => ({ contender: entry.contender, samples }));
  } finally {
    for (const { opened } of open) await opened.close();
  }
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (low + high) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Relative to the base in the same round, which ran under the same conditions. */
export function ratios(series: Series, base: Series): Spread {
  return spread(
    series.samples.map(({ perSecond }, at) => perSecond / (base.samples[at]?.perSecond ?? 1)),
  );
}
