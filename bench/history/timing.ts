import { spread } from '../rounds.ts';
import type { Case } from './cases.ts';
import type { Fixture } from './fixture.ts';

/** The cases of one history, and what each call took. */
export interface Timed {
  readonly fixture: Fixture;
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
  fixtures: readonly { readonly fixture: Fixture; readonly cases: readonly Case[] }[],
): Promise<Timed[]> {
  for (const { fixture } of fixtures) {
    for (let call = 0; call < firstCalls; call++) await fixture.timeBase();
  }
  const timed = fixtures.map(({ fixture, cases }) => ({
    fixture,
    cases,
    calls: new Map(cases.map(({ name }) => [name, [] as number[]])),
    base: [] as number[],
  }));
  for (let round = -warmUps; round < callsEach; round++) {
    for (const { fixture, cases, calls, base } of timed) {
      for (const [at, { name, query }] of cases.entries()) {
        const ms = await fixture.time(query);
        if (round >= 0) calls.get(name)?.push(ms);
        if (at % baseEvery !== 0) continue;
        const baseMs = await fixture.timeBase();
        if (round >= 0) base.push(baseMs);
      }
    }
  }
  return timed;
}

export function medianOf({ calls }: Timed, name: string): number {
  return spread(calls.get(name) ?? []).median;
}

/** BenchmarkOptions many times as long as the first page of ten records. */
export function timesBase(timed: Timed, name: string): number {
  return medianOf(timed, name) / spread(timed.base).median;
}

export function p99(calls: readonly number[]): number {
  return calls.toSorted((a, b) => a - b)[Math.ceil(calls.length * 0.99) - 1] ?? 0;
}
