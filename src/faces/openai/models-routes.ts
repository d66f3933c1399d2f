import type { FastifyInstance } from 'fastify';
import * as store from '../../features/agents/statements/models.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { limitLists } from '../../features/people/access/count-calls.ts';
import { findAgentId } from '../../features/people/access/visible-resources.ts';
import { modelsListMax } from '../../http/contract/contract-limits.ts';
import { route } from '../../http/route.ts';
import { modelNotFound } from './call-agent.ts';
import { getModel, listModels } from './openai.ts';
import { seconds } from './response-wire.ts';

/** Agents as models. */
export function modelRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(
    app,
    deps,
    listModels,
    async ({ caller }) => {
      const rows = await store.listModels(db, caller, { agentId: null, limit: modelsListMax });
      const data = rows.map((row) => modelWire(row, row.slug));
      return { status: 200, body: { object: 'list', data } };
    },
    limitLists,
  );

  route(app, deps, getModel, async ({ params, caller }) => {
    const { model } = params;
    const agentId = await findAgentId(deps.reads, caller, model);
    const [row] = agentId ? await store.listModels(db, caller, { agentId, limit: 1 }) : [];
    if (!row) throw modelNotFound();
    return { status: 200, body: modelWire(row, model) };
  });
}

function modelWire({ createdAt }: store.ModelRow, id: string) {
  return { id, object: 'model', created: seconds(createdAt), owned_by: 'cueline' };
}
