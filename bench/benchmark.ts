import type { BenchEnvironment } from './environment.ts';
import type { GoalCheck } from './goals.ts';
import type { Table } from './table.ts';

/** What is measured, and what is asked of it. */
export interface Benchmark {
  /** What the command line takes. */
  readonly name: string;
  /** What is measured, and how, for whoever reads the results. */
  readonly description: string;
  /** What the project asks of itself. */
  readonly goal?: string;
  /** Compares the tables with the goal. `measured` holds the tables of the benchmarks that ran before, by name. */
  readonly goalChecks?: (
    tables: readonly Table[],
    measured: ReadonlyMap<string, readonly Table[]>,
  ) => GoalCheck[];
  /** Whether a plain `npm run bench` runs it. */
  readonly byDefault: boolean;
  /** PostgreSQL counts the time of each statement, which costs a little: only where it is asked for. */
  readonly statements?: boolean;
  /** Rows that it fills tables with, unless the command line says how many. */
  readonly runs?: number;
  run(environment: BenchEnvironment, how: BenchmarkOptions): Promise<Table[]>;
}

export interface BenchmarkOptions {
  /** What is counted; one more comes before, to warm up. */
  readonly rounds: number;
  /** The length of a round that has one. */
  readonly seconds: number;
  /** Requests of a round that ends when all of them have. */
  readonly requests: number;
  /** Open at once by the load generator. */
  readonly connections: number;
  readonly runs: number;
  readonly note: (line: string) => void;
}

/** So many times the usual callers make a crowd: the more, the larger the transactions. */
export const crowd = 4;

/** A table from each number of callers. */
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
