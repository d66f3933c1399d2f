import { invalidRequest, notFound } from '../../../core/failure.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import type { Db } from '../../../db/database.ts';
import * as store from '../statements/views.ts';

/** Replaces the saved views of a member. Names are unique. */
export async function replaceViews(
  db: Db,
  owner: store.ViewOwner,
  views: readonly store.SavedView[],
  isCurrent: Precondition,
): Promise<store.MemberViews> {
  const names = views.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalidRequest(`There are two views named "${repeated}".`);
  return db.transaction(async (trx) => {
    if (!(await store.lockViews(trx, owner))) throw notFound('member');
    refuseStale((await store.readViews(trx, owner)).revision, isCurrent);
    await store.writeViews(trx, owner, views);
    return store.readViews(trx, owner);
  });
}
