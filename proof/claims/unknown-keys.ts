import { toId, uuid7 } from '../../src/core/id.ts';
import { generateKey } from '../../src/core/people/key.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { executeRequest, flood } from '../flood.ts';

export const unknownKeys: Claim = {
  name: 'unknown-keys',
  description: 'Calls with well-formed unknown keys add no row to any table',
  rounds: { test: 2_000, short: 50_000, full: 1_000_000 },
  roundsPerEnvironment: 250_000,
  faults: [
    {
      name: 'row-per-unknown-key',
      description: 'unknown keys get a row in limits',
      file: 'engine/admit/admission-read.ts',
      find: 'with subjects as materialized (',
      replace: `with noted as (
      insert into limits (subject) select gen_random_uuid() from unnest(\${keyHashes}::bytea[])),
    subjects as materialized (`,
    },
  ],
  prove,
};

/** A round is a call. */
async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const apis = await Promise.all([environment.spawn('api'), environment.spawn('api')]);
  const { path } = await environment.agent();
  const unknownPath = `/api/v1/agents/${toId('agent', uuid7(0))}`;
  const bodies = ['{"variables":{"name":"you"}}', '{"variables":{}}', '{'];
  const before = await countRows(environment.db);
  const statuses = await flood({
    urls: apis.map(({ url }) => url),
    calls: rounds,
    request: (index) =>
      executeRequest(index % 4 === 3 ? unknownPath : path, generateKey(), bodies[index % 3] ?? ''),
  });
  const after = await countRows(environment.db);
  const violations: string[] = [];
  for (const [table, rows] of after) {
    const more = rows - (before.get(table) ?? 0);
    if (more !== 0) violations.push(`${more} new rows in ${table}`);
  }
  for (const [status, count] of statuses) {
    if (status !== 401) violations.push(`${count} calls got ${status}`);
  }
  return { counts: { calls: rounds, refused: statuses.get(401) ?? 0 }, violations };
}

/** The rows of every table. */
async function countRows(db: Db): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select quote_ident(relname) as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db);
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.raw(name)}`.execute(
      db,
    );
    counts.set(name, rows[0]?.n ?? 0);
  }
  return counts;
}
