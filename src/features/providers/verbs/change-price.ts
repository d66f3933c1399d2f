import type { Price } from '../../../core/model/price.ts';
import type { Actor } from '../../../core/people/audit.ts';
import type { Db } from '../../../db/database.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import * as store from '../statements/prices-statements.ts';

/** Prices of a workspace. They apply to executions that end from then on. */

export async function putPrice(
  db: Db,
  actor: Actor,
  price: Price & { readonly model: string },
): Promise<store.PriceRow> {
  return db.transaction(async (trx) => {
    const row = await store.putPrice(trx, actor.workspaceId, price);
    const { model, ...details } = price;
    await writeAudit(trx, actor, { action: 'price.put', subject: model, details });
    return row;
  });
}

/** False if it does not exist. */
export async function deletePrice(db: Db, actor: Actor, model: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    const deleted = await store.deletePrice(trx, actor.workspaceId, model);
    if (deleted) await writeAudit(trx, actor, { action: 'price.delete', subject: model });
    return deleted;
  });
}
