import type { FastifyInstance } from 'fastify';
import { requireFound } from '../../../core/failure.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import { findKey } from '../../people/statements/keys.ts';
import { listKeyRefusals, listRefusals } from '../contract/agents-contract.ts';
import { readRefusalCounts } from '../statements/refusal-counts.ts';

/** The refused calls of an agent or a key. */
export function refusalRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, listRefusals, async ({ params, ...context }) => {
    const { caller } = context;
    const agent = await visibleAgent(deps.reads, caller, params.agentId);
    allowAgentOrigins(context, agent);
    const refusals = await readRefusalCounts(db, caller, { agentId: agent.id });
    return { result: { refusals } };
  });

  route(app, deps, listKeyRefusals, async ({ ids, caller }) => {
    const key = requireFound(await findKey(db, caller, ids.apiKeyId), 'API key');
    const refusals = await readRefusalCounts(db, caller, { apiKeyId: key.id });
    return { result: { refusals } };
  });
}
