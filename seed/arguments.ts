import { parseArgs } from 'node:util';
import type { Seeding } from './seed.ts';

export interface SeedArguments extends Seeding {
  readonly json: boolean;
}

export const usage = `npm run seed -- --executions N [--others N] [--days N] [--queued N] [--json]

  --executions N  ended executions of a new agent, 1 to 1,000,000,000
  --others N      executions of 1,000 other agents together; default: as many as --executions in the first call, then none
  --days N        distributed over the last N days, 1 to 3,650 (default: 90)
  --queued N      queued executions of the new agent, due in a year: no worker claims them
  --json          print {"agentId","key"} as the last line`;

/** Parses the command line. Returns a message if it is invalid. */
export function readArguments(args: readonly string[]): SeedArguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        executions: { type: 'string' },
        others: { type: 'string' },
        days: { type: 'string', default: '90' },
        queued: { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
      },
    });
    if (values.executions === undefined) return '--executions is missing.';
    return {
      executions: count('executions', values.executions, 1, countMax),
      others: values.others === undefined ? null : count('others', values.others, 0, countMax),
      days: count('days', values.days, 1, daysMax),
      queued: count('queued', values.queued, 0, queuedMax),
      json: values.json,
    };
  } catch (error) {
    return (error as Error).message;
  }
}

const countMax = 1_000_000_000;
const daysMax = 3_650;
const queuedMax = 100_000_000;

function count(name: string, text: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  const [from, to] = [min, max].map((one) => one.toLocaleString('en-US'));
  throw new Error(`--${name} must be a whole number from ${from} to ${to}, not "${text}".`);
}
