import type { BenchEnvironment } from './environment.ts';
import type { GoalCheck } from './goals.ts';
import type { Table } from './table.ts';

/** A question about performance, and the goal. */
export interface Benchmark {
  /** The argument on the command line. */
  readonly name: string;
  /** What is measured and how; printed above the tables. */
  readonly description: string;
  /** The project's own target. */
  readonly goal?: string;
  /** Compares the tables with the goal. `measured` holds the tables of the benchmarks that ran before, by name. */
  readonly goalChecks?: (
    tables: readonly Table[],
    measured: ReadonlyMap<string, readonly Table[]>,
  ) => GoalCheck[];
  /** Whether a plain `npm run bench` includes it. */
  readonly byDefault: boolean;
  /** Loads `pg_stat_statements`, which costs a little: only if needed. */
  readonly statements?: boolean;
  /** The default number of rows to fill tables with. */
  readonly runs?: number;
  run(environment: BenchEnvironment, how: BenchmarkOptions): Promise<Table[]>;
}

export interface BenchmarkOptions {
  /** Measured rounds, after the warm-up. */
  readonly rounds: number;
  /** The length of a timed round. */
  readonly seconds: number;
  /** Requests per counted round. */
  readonly requests: number;
  /** Concurrent connections of the load generator. */
  readonly connections: number;
  readonly runs: number;
  readonly note: (line: string) => void;
}

/** The factor for measurements with many clients: the more clients, the larger the transactions. */
export const crowd = 4;

/** One table for each number of clients. */
export async function fromEach(
  callers: readonly number[],
  how: BenchmarkOptions,
  measure: (how: BenchmarkOptions) => Promise<Table>,
): Promise<Table[]> {
  const tables: Table[] = [];
  for (const connections of callers) {
    const table = await measure({ ...how, connections });
    tables.push({
      title: `From ${connections} ${connections === 1 ? 'caller' : 'callers'}`,
      ...table,
    });
  }
  return tables;
}
