import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** A known text under the server's secret: one row, by which a wrong secret is noticed. */

/** Null before the first start that knows it. */
export async function findCanary(db: Db): Promise<Buffer | null> {
  const { rows } = await sql<{ sealed: Buffer }>`select sealed from secret_canary`.execute(db);
  return rows[0]?.sealed ?? null;
}

/** Leaves one that another process has inserted. */
export async function insertCanary(trx: Trx, sealed: Buffer): Promise<void> {
  await sql`insert into secret_canary (sealed) values (${sealed}) on conflict do nothing`.execute(
    trx,
  );
}

export async function replaceCanary(trx: Trx, sealed: Buffer): Promise<void> {
  await sql`
    insert into secret_canary (sealed) values (${sealed})
    on conflict (only_row) do update set sealed = excluded.sealed`.execute(trx);
}
