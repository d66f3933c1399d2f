import { CallFailure, notFound, requireFound } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import { readClock } from '../../db/clock.ts';
import type { Db, Trx } from '../../db/database.ts';
import * as store from '../../store/people/views.ts';

/** Saved views of executions. Names are unique for a member. */

export async function createView(
  db: Db,
  owner: store.ViewOwner,
  view: Pick<store.ViewRow, 'name' | 'search'>,
  viewsMax: number,
): Promise<store.ViewRow> {
  return db.transaction(async (trx) => {
    const views = await lockedViews(trx, owner);
    requireFreeName(views, view.name, null);
    if (views.length >= viewsMax) {
      throw new CallFailure('CONFLICT', `You already have ${viewsMax} views. Delete one first.`);
    }
    return store.insertView(trx, owner, { id: uuid7(await readClock(trx)), ...view });
  });
}

export async function updateView(
  db: Db,
  owner: store.ViewOwner,
  id: string,
  change: { readonly name?: string; readonly search?: string },
): Promise<store.ViewRow> {
  return db.transaction(async (trx) => {
    const { name = null, search = null } = change;
    requireFreeName(await lockedViews(trx, owner), name, id);
    return requireFound(await store.updateView(trx, owner, { id, name, search }), 'view');
  });
}

async function lockedViews(trx: Trx, owner: store.ViewOwner): Promise<store.ViewRow[]> {
  if (!(await store.lockViews(trx, owner))) throw notFound('view');
  return store.listViews(trx, owner);
}

function requireFreeName(
  views: readonly store.ViewRow[],
  name: string | null,
  ownId: string | null,
): void {
  if (!views.some((view) => view.name === name && view.id !== ownId)) return;
  throw new CallFailure('CONFLICT', `You already have a view named "${name}".`);
}
