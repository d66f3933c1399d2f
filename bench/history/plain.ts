import pg from 'pg';
import { spread } from '../rounds.ts';
import type { Fixture } from './fixture.ts';

/**
 * The usual implementation of a list: `count(*)` and `order by … limit … offset …` on the same table with the same
 * indexes, directly in the database.
 */

export const plainCases = ['first page', 'middle page', 'last page', 'status failed, middle page'];

/** Slow queries are measured less often. */
const totalMsMax = 20_000;
const callsMax = 5;

/** The median in milliseconds. */
export async function timePlain(fixture: Fixture, query: string): Promise<number> {
  const client = new pg.Client(fixture.connection);
  await client.connect();
  const params = new URLSearchParams(query);
  const values = [fixture.agent.id, params.get('status')];
  const where = `agent_id = $1 and ($2::execution_status is null or status = $2)`;
  const page = [Number(params.get('limit')), Number(params.get('offset') ?? 0)];
  const calls: number[] = [];
  let totalMs = 0;
  try {
    while (calls.length < callsMax && totalMs < totalMsMax) {
      const startedMs = performance.now();
      await client.query(`select count(*) from executions where ${where}`, values);
      await client.query(
        `select * from executions where ${where} order by id desc limit $3 offset $4`,
        [...values, ...page],
      );
      const ms = performance.now() - startedMs;
      calls.push(ms);
      totalMs += ms;
    }
  } finally {
    await client.end();
  }
  return spread(calls).median;
}
