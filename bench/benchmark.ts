import type { BenchEnvironment } from './environment.ts';
import type { GoalCheck } from './goals.ts';
import type { Table } from './table.ts';

/** A question about performance, and the goal. */
export interface Benchmark {
  /** The argument on the command line. */
  readonly name: string;
  /** The metric and the method; printed above the tables. */
  readonly description: string;
  /** The project's own target. */
  readonly goal?: string;
  /** Compares the tables with the goal. `measured` contains the tables of earlier benchmarks, by name. */
  readonly goalChecks?: (
    tables: readonly Table[],
    measured: ReadonlyMap<string, readonly Table[]>,
  ) => GoalCheck[];
  /** Whether a plain `npm run bench` includes it. */
  readonly byDefault: boolean;
  /** Loads `pg_stat_statements`, which has a small cost. */
  readonly statements?: boolean;
  /** The default of `--executions`. */
  readonly executions?: number;
  run(environment: BenchEnvironment, options: BenchmarkOptions): Promise<Table[]>;
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
  /** Executions or workflow runs that a benchmark inserts before it measures. */
  readonly executions: number;
  readonly note: (line: string) => void;
}

/** Measures also with this many times the clients: the more clients, the larger the transactions. */
export const manyClientsFactor = 4;

/** One table for each number of clients. */
export async function forEachClientCount(
  counts: readonly number[],
  options: BenchmarkOptions,
  measure: (options: BenchmarkOptions) => Promise<Table>,
): Promise<Table[]> {
  const tables: Table[] = [];
  for (const connections of counts) {
    const table = await measure({ ...options, connections });
    tables.push({ title: `${connections} ${connections === 1 ? 'client' : 'clients'}`, ...table });
  }
  return tables;
}
