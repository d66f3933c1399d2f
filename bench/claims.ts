import type { BenchEnvironment } from './environment.ts';

/** The cost of claiming so far, from `pg_stat_statements`. */
export interface Claims {
  readonly calls: number;
  readonly claimed: number;
  readonly ms: number;
}

/** The claim statement is recognized by its clauses: `skip locked`, and `key share` on the process row. */
export async function claimsOf(environment: BenchEnvironment, database: string): Promise<Claims> {
  const [row] = await environment.ask<{ calls: number; claimed: number; ms: number }>(`
    select coalesce(sum(s.calls), 0)::float8 as calls, coalesce(sum(s.rows), 0)::float8 as claimed,
      coalesce(sum(s.total_exec_time), 0)::float8 as ms
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where d.datname = '${database}' and s.query ilike '%skip locked%' and s.query ilike '%key share%'`);
  return row ?? { calls: 0, claimed: 0, ms: 0 };
}

export function since(before: Claims, after: Claims): Claims & { readonly microsEach: number } {
  const claimed = after.claimed - before.claimed;
  const ms = after.ms - before.ms;
  if (claimed === 0) throw new Error('nothing was claimed, or the claim is not known by its text');
  return { calls: after.calls - before.calls, claimed, ms, microsEach: (ms * 1_000) / claimed };
}
