import type { FastifyInstance } from 'fastify';
import { actorOf } from '../../../core/people/audit.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import { getRetention, setRetention } from '../contract/retention-contract.ts';
import { readRetention } from '../statements/retention-statements.ts';
import * as flow from '../verbs/set-retention.ts';

/** Retention settings. */
export function retentionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, getRetention, async ({ caller }) => {
    return { status: 200, body: await readRetention(db, caller.workspaceId) };
  });

  route(app, deps, setRetention, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    await flow.setRetention(db, actorOf(caller), body);
    return { status: 200, body };
  });
}
