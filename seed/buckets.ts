import { latencyBin, levelMs } from '../src/core/statistics.ts';
import { outcomes, sources } from './outcomes.ts';
import type { Added } from './record.ts';

/**
 * Adds up the statistics of one day for any number of agents. Not `addUp` of the core, whose keys are texts: here it would
 * take as long as the database does. Terms are packed into numbers, and the coarse levels are made of the fine ones.
 */

export interface Sums {
  readonly agent: number;
  readonly level: 'minute' | 'hour' | 'day' | 'quarter';
  readonly bucketMs: number;
  /** One execution of those that are in it: the terms that its level tells apart are the same for all. */
  readonly terms: Terms;
  records: number;
  inputTokens: number;
  outputTokens: number;
  cost: number;
  /** The bin of each latency. */
  bins: number[];
}

export type Terms = Pick<Added, 'outcome' | 'source' | 'version' | 'model' | 'key'>;

export interface DaySums {
  add(one: Added): void;
  /** Minutes, hours and the day, by status and source. */
  statistics(): Sums[];
  /** Quarters and the day, by everything. */
  breakdown(): Sums[];
}

/** Housekeeping takes the minutes of an old hour that has no more records than this: they are not even written. */
export const foldedRecordsMax = 500;

/** @param youngFromMs minutes from here on are kept, however few records their hour has */
export function sumDay(dayMs: number, youngFromMs: number): DaySums {
  const minutes = new Map<number, Sums>();
  const quarters = new Map<number, Sums>();
  return {
    add(one) {
      const place = one.agent * perDay + Math.floor((one.atMs - dayMs) / levelMs.minute);
      const byStatus = statusOf(one) * sources.length + one.source;
      addTo(minutes, place * statusesMax + byStatus, one, 'minute');
      const quarter = one.agent * 96 + Math.floor((one.atMs - dayMs) / levelMs.quarter);
      addTo(quarters, quarter * termsMax + packed(one), one, 'quarter');
    },
    statistics() {
      const hours = rollUp(minutes.values(), 'hour', byStatusAndSource);
      const records = new Map<number, number>();
      for (const one of hours) {
        const hour = hourOf(one);
        records.set(hour, (records.get(hour) ?? 0) + one.records);
      }
      const kept = [...minutes.values()].filter(
        (one) => one.bucketMs >= youngFromMs || (records.get(hourOf(one)) ?? 0) > foldedRecordsMax,
      );
      return [...kept, ...hours, ...rollUp(hours, 'day', byStatusAndSource)];
    },
    breakdown() {
      const all = [...quarters.values()];
      return [...all, ...rollUp(all, 'day', packed)];
    },
  };
}

const perDay = levelMs.day / levelMs.minute;
const statusesMax = 32;
const [outcomesMax, versionsMax, modelsMax, keysMax] = [16, 4, 2, 4];
const termsMax = outcomesMax * sources.length * versionsMax * modelsMax * keysMax;
const statuses = [...new Set(outcomes.map(({ status }) => status))];
const statusOfOutcome = outcomes.map(({ status }) => statuses.indexOf(status));

/** Outcomes that the breakdown does not tell apart, such as canceled early and late, count as the first of them. */
const kindOfOutcome = outcomes.map(({ status, errorCode }) =>
  outcomes.findIndex((one) => one.status === status && one.errorCode === errorCode),
);

function statusOf({ outcome }: Terms): number {
  return statusOfOutcome[outcome] ?? 0;
}

function byStatusAndSource(terms: Terms): number {
  return statusOf(terms) * sources.length + terms.source;
}

function packed({ outcome, source, version, model, key }: Terms): number {
  const kind = kindOfOutcome[outcome] ?? 0;
  const first = (kind * sources.length + source) * versionsMax + version;
  return (first * modelsMax + model) * keysMax + key;
}

function hourOf({ agent, bucketMs }: Sums): number {
  return agent * 24 + (Math.floor(bucketMs / levelMs.hour) % 24);
}

function addTo(into: Map<number, Sums>, name: number, one: Added, level: Sums['level']): void {
  let sums = into.get(name);
  if (!sums) {
    const bucketMs = Math.floor(one.atMs / levelMs[level]) * levelMs[level];
    sums = { ...nothing(), agent: one.agent, level, bucketMs, terms: one };
    into.set(name, sums);
  }
  sums.records++;
  sums.inputTokens += one.inputTokens;
  sums.outputTokens += one.outputTokens;
  sums.cost += one.cost;
  if (one.latencyMs !== null) sums.bins.push(latencyBin(one.latencyMs));
}

function rollUp(
  fine: Iterable<Sums>,
  level: 'hour' | 'day',
  nameOf: (terms: Terms) => number,
): Sums[] {
  const coarse = new Map<number, Sums>();
  for (const one of fine) {
    const bucketMs = Math.floor(one.bucketMs / levelMs[level]) * levelMs[level];
    const name = (level === 'hour' ? hourOf(one) : one.agent) * termsMax + nameOf(one.terms);
    let sums = coarse.get(name);
    if (!sums) {
      sums = { ...nothing(), agent: one.agent, level, bucketMs, terms: one.terms };
      coarse.set(name, sums);
    }
    sums.records += one.records;
    sums.inputTokens += one.inputTokens;
    sums.outputTokens += one.outputTokens;
    sums.cost += one.cost;
    for (const bin of one.bins) sums.bins.push(bin);
  }
  return [...coarse.values()];
}

function nothing() {
  return { records: 0, inputTokens: 0, outputTokens: 0, cost: 0, bins: [] as number[] };
}
