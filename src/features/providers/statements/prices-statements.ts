import type { Price } from '../../../core/model/price.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The prices of a workspace, in US dollars. Amounts are `numeric` in the database and decimal strings in the code. */

export interface PriceRow extends Price {
  readonly model: string;
  /** Since when it has these amounts. */
  readonly validFrom: Date;
  readonly updatedAt: Date;
}

const amounts = sql`input_per_million, output_per_million, cache_read_per_million, cache_write_per_million`;

export async function listPrices(db: Db, workspaceId: string): Promise<PriceRow[]> {
  const { rows } = await sql<PriceRow>`
    select model, ${amounts}, valid_from, updated_at from prices where workspace_id = ${workspaceId}
    order by model collate "C"`.execute(db);
  return rows;
}

export async function putPrice(
  db: Db,
  workspaceId: string,
  price: Price & { readonly model: string },
): Promise<PriceRow> {
  const { rows } = await sql<PriceRow>`
    insert into prices (workspace_id, model, ${amounts})
    values (${workspaceId}, ${price.model}, ${price.inputPerMillion}, ${price.outputPerMillion},
      ${price.cacheReadPerMillion}, ${price.cacheWritePerMillion})
    on conflict (workspace_id, model) do update set
      input_per_million = excluded.input_per_million, output_per_million = excluded.output_per_million,
      cache_read_per_million = excluded.cache_read_per_million,
      cache_write_per_million = excluded.cache_write_per_million, updated_at = clock_timestamp()
    returning model, ${amounts}, valid_from, updated_at`.execute(db);
  if (!rows[0]) throw new Error('The upsert returned no row.');
  return rows[0];
}

/** False if it does not exist. */
export async function deletePrice(db: Db, workspaceId: string, model: string): Promise<boolean> {
  const { rowCount } = await sql`
    delete from prices where workspace_id = ${workspaceId} and model = ${model}`.execute(db);
  return rowCount > 0;
}
