import { spread } from '../rounds.ts';
import type { Case } from './cases.ts';
import type { Fixture } from './fixture.ts';

/** The cases of one history, and the durations of their calls. */
export interface Timed {
  readonly fixture: Fixture;
  readonly cases: readonly Case[];
  /** By the name of the case. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
  /** Durations of the first page of ten records, measured in between. */
  readonly base: readonly number[];
}

/** Measured calls per case; a few warm-up calls come before. */
export const callsEach = 40;
const warmUps = 6;
/** Calls until the server's code is compiled. */
const firstCalls = 400;
/** The base is measured after this many cases, under the same conditions. */
const baseEvery = 8;

/** Sequential calls in rounds: every case of every history once per round. */
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

/** The ratio to the first page of ten records. */
export function ratioToBase(timed: Timed, name: string): number {
  return medianOf(timed, name) / spread(timed.base).median;
}
