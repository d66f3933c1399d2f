import type { FastifyInstance } from 'fastify';
import { getRetention, setRetention } from '../../../contract/executions/retention.ts';
import { actorOf } from '../../../core/people/audit.ts';
import * as flow from '../../../flow/history/set-retention.ts';
import { readRetention } from '../../../store/history/retention.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

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
