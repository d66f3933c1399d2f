import type { FastifyInstance } from 'fastify';
import { viewsMax } from '../../../contract/limits.ts';
import * as contract from '../../../contract/workspace/views.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { createView, updateView } from '../../../flow/workspace/change-view.ts';
import * as store from '../../../store/people/views.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** Saved views of the signed-in user. */
export function viewRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.listViews, async ({ caller }) => {
    const rows = await store.listViews(db, ownerOf(caller));
    return { status: 200, body: { views: rows.map(viewWire) } };
  });

  route(app, deps, contract.createView, async ({ body, caller }) => {
    const row = await createView(db, ownerOf(caller), body, viewsMax);
    return { status: 201, body: viewWire(row) };
  });

  route(app, deps, contract.updateView, async ({ params, body, caller }) => {
    const row = await updateView(db, ownerOf(caller), viewIdOf(params), body);
    return { status: 200, body: viewWire(row) };
  });

  route(app, deps, contract.deleteView, async ({ params, caller }) => {
    const deleted = await store.deleteView(db, ownerOf(caller), viewIdOf(params));
    if (!deleted) throw notFound('view');
    return { status: 204, body: null };
  });
}

function ownerOf({ workspaceId, userId, id }: Caller): store.ViewOwner {
  return { workspaceId, userId: userId ?? id };
}

function viewIdOf({ viewId }: { readonly viewId: string }): string {
  const id = fromId('view', viewId);
  if (id === null) throw notFound('view');
  return id;
}

function viewWire({ id, name, search, createdAt }: store.ViewRow): contract.View {
  return { viewId: toId('view', id), name, search, createdAt: createdAt.toISOString() };
}
