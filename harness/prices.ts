import { sql } from '../src/db/sql.ts';
import type { Service } from './service.ts';

/** A price of a workspace, inserted into the table. */
export async function setPrice(
  { db, workspaceId }: Pick<Service, 'db' | 'workspaceId'>,
  model: string,
  price: { readonly inputPerMillion: string; readonly outputPerMillion: string },
): Promise<void> {
  await sql`
    insert into prices (workspace_id, model, input_per_million, output_per_million)
    values (${workspaceId}, ${model}, ${price.inputPerMillion}, ${price.outputPerMillion})`.execute(
    db,
  );
}
