import type { FastifyInstance } from 'fastify';
import { viewsMax } from '../../../contract/limits.ts';
import * as contract from '../../../contract/workspace/views.ts';
import { notFound } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { createView, updateView } from '../../../flow/workspace/change-view.ts';
import * as store from '../../../store/people/views.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** Saved views of the signed-in user. */
export function viewRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.listViews, async ({ caller }) => {
    return { result: { views: await store.listViews(db, ownerOf(caller)) } };
  });

  route(app, deps, contract.createView, async ({ body, caller }) => {
    return { result: await createView(db, ownerOf(caller), body, viewsMax) };
  });

  route(app, deps, contract.updateView, async ({ ids, body, caller }) => {
    return { result: await updateView(db, ownerOf(caller), ids.viewId, body) };
  });

  route(app, deps, contract.deleteView, async ({ ids, caller }) => {
    if (await store.deleteView(db, ownerOf(caller), ids.viewId)) return { result: null };
    throw notFound('view');
  });
}

function ownerOf({ workspaceId, userId, id }: Caller): store.ViewOwner {
  return { workspaceId, userId: userId ?? id };
}
