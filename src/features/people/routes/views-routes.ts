import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../../core/people/caller.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import * as contract from '../contract/views-contract.ts';
import { type MemberViews, readViews, type ViewOwner } from '../statements/views.ts';
import { replaceViews } from '../verbs/replace-views.ts';

/** Saved views of the signed-in user. */
export function viewRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.getViews, async ({ caller }) =>
    viewsResponse(await readViews(db, ownerOf(caller))),
  );

  route(app, deps, contract.putViews, async ({ body: { views }, caller, request }) =>
    viewsResponse(await replaceViews(db, ownerOf(caller), views, ifMatch(request))),
  );
}

function viewsResponse({ views, revision }: MemberViews) {
  return { result: { views }, headers: { etag: etag(revision) } };
}

function ownerOf({ workspaceId, userId, id }: Caller): ViewOwner {
  return { workspaceId, userId: userId ?? id };
}
