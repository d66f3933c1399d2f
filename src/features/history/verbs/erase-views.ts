import {
  type ErasedValue,
  namesValue,
  searchNamesValue,
} from '../../../core/history/erased-value.ts';
import { everything } from '../../../core/history/history-range.ts';
import type { Db } from '../../../db/database.ts';
import { deleteViews, listViewsOfWorkspace } from '../../people/statements/views.ts';

const viewsAtOnce = 500;

/** Deletes the saved views of all members that name the erased value. */
export async function eraseViews(
  db: Db,
  { workspaceId, value }: ErasedValue & { readonly workspaceId: string },
): Promise<void> {
  for (let after = everything.fromId; ; ) {
    const views = await listViewsOfWorkspace(db, workspaceId, { after, limit: viewsAtOnce });
    const named = views.filter(
      ({ name, search }) => namesValue(name, value) || searchNamesValue(search, value),
    );
    if (named.length > 0) {
      await deleteViews(
        db,
        named.map(({ id }) => id),
      );
    }
    const last = views.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
