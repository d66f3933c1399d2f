import type { FastifyInstance } from 'fastify';
import { multiplyDecimal } from '../../../core/decimal.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import { estimateCost } from '../contract/estimate-contract.ts';
import { readMedianCost } from '../statements/median-cost.ts';
import { boundCall, type EstimateDeps } from '../verbs/estimate.ts';

/** Estimates what executions cost. */
export function estimateRoutes(app: FastifyInstance, deps: ApiDeps & EstimateDeps): void {
  route(
    app,
    deps,
    estimateCost,
    async ({ params, body, ...context }) => {
      const { caller } = context;
      const found = await visibleAgent(deps.reads, caller, params.agentId);
      allowAgentOrigins(context, found);
      const { id } = found;
      const { variables, count = 1 } = body;
      const { agent, boundUsd } = await boundCall(deps, caller, id, variables);
      const { versionId } = agent;
      const usual = await deps.historyReads.read(caller, (db) =>
        readMedianCost(db, { agentId: id, versionId }),
      );
      const times = (usd: string) => Number(multiplyDecimal(usd, count));
      const expectedUSD = usual === null ? null : times(usual);
      return { status: 200, body: { boundUSD: times(boundUsd), expectedUSD } };
    },
    limitLists,
  );
}
