import { spread } from '../rounds.ts';
import type { Case } from './cases.ts';
import type { Stage } from './stage.ts';

/** The cases of one history, and what each call took. */
export interface Timed {
  readonly stage: Stage;
  readonly cases: readonly Case[];
  /** By the name of the case. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
  /** Of the first page of ten records, between the others. */
  readonly base: readonly number[];
}

/** Counted for each case; a few more come before, for the caches and the plans. */
export const callsEach = 40;
const warmUps = 6;
/** Which the server's code takes to be compiled. */
const firstCalls = 400;
/** So many cases, and then one call of the base: it meets the same machine. */
const baseEvery = 8;

/** One call at a time, in rounds: every case of every history once, then all of them again. */
export async function timeCases(
  stages: readonly { readonly stage: Stage; readonly cases: readonly Case[] }[],
): Promise<Timed[]> {
  for (const { stage } of stages) {
    for (let call = 0; call < firstCalls; call++) await stage.timeBase();
  }
  const timed = stages.map(({ stage, cases }) => ({
    stage,
    cases,
    calls: new Map(cases.map(({ name }) => [name, [] as number[]])),
    base: [] as number[],
  }));
  for (let round = -warmUps; round < callsEach; round++) {
    for (const { stage, cases, calls, base } of timed) {
      for (const [at, { name, query }] of cases.entries()) {
        const ms = await stage.time(query);
        if (round >= 0) calls.get(name)?.push(ms);
        if (at % baseEvery !== 0) continue;
        const baseMs = await stage.timeBase();
        if (round >= 0) base.push(baseMs);
      }
    }
  }
  return timed;
}

export function medianOf({ calls }: Timed, name: string): number {
  return spread(calls.get(name) ?? []).median;
}

/** How many times as long as the first page of ten records. */
export function timesBase(timed: Timed, name: string): number {
  return medianOf(timed, name) / spread(timed.base).median;
}

export function p99(calls: readonly number[]): number {
  return calls.toSorted((a, b) => a - b)[Math.ceil(calls.length * 0.99) - 1] ?? 0;
}
