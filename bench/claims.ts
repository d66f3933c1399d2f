import type { BenchEnvironment } from './environment.ts';

/** The cost of claims so far, from `pg_stat_statements`. */
export interface ClaimCost {
  readonly claimed: number;
  readonly ms: number;
}

/** The claim statement is recognized by its clauses: `skip locked`, and `key share` on the process row. */
export async function claimCostOf(
  environment: BenchEnvironment,
  database: string,
): Promise<ClaimCost> {
  const [row] = await environment.ask<{ claimed: number; ms: number }>(`
    select coalesce(sum(s.rows), 0)::float8 as claimed, coalesce(sum(s.total_exec_time), 0)::float8 as ms
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where d.datname = '${database}' and s.query ilike '%skip locked%' and s.query ilike '%key share%'`);
  return row ?? { claimed: 0, ms: 0 };
}

export function microsPerClaim(before: ClaimCost, after: ClaimCost): number {
  const claimed = after.claimed - before.claimed;
  if (claimed === 0)
    throw new Error('No claim, or pg_stat_statements has no known claim statement.');
  return ((after.ms - before.ms) * 1_000) / claimed;
}
