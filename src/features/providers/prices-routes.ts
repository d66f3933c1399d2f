import type { FastifyInstance } from 'fastify';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import { priceText } from '../../core/model/price.ts';
import { actorOf } from '../../core/people/audit.ts';
import { pricePerMillionMax } from '../../http/contract/contract-limits.ts';
import { route } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireWholeWorkspace } from '../people/access/require-permission.ts';
import { deletePrice, listPrices, putPrice } from './providers-contract.ts';
import * as store from './statements/prices-statements.ts';
import * as flow from './verbs/change-price.ts';
import { listBuiltInPrices } from './verbs/test-provider.ts';

/** Model prices of a workspace. */
export function priceRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, listPrices, async ({ query: { provider }, caller }) => {
    const prices = await store.listPrices(db, caller.workspaceId);
    if (provider === undefined) return { result: { prices } };
    const builtIn = await listBuiltInPrices(deps, caller.workspaceId, provider);
    return { result: { prices, builtIn } };
  });

  route(app, deps, putPrice, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    if (/^cueline\/.*\?/.test(body.model)) throw optionsOfModel();
    const optional = (name: 'cacheReadPerMillion' | 'cacheWritePerMillion') =>
      body[name] == null ? null : parsePrice(name, body[name]);
    const row = await flow.putPrice(db, actorOf(caller), {
      model: body.model,
      inputPerMillion: parsePrice('inputPerMillion', body.inputPerMillion),
      outputPerMillion: parsePrice('outputPerMillion', body.outputPerMillion),
      cacheReadPerMillion: optional('cacheReadPerMillion'),
      cacheWritePerMillion: optional('cacheWritePerMillion'),
    });
    return { result: row };
  });

  route(app, deps, deletePrice, async ({ query, caller }) => {
    requireWholeWorkspace(caller);
    const { model } = query;
    // PostgreSQL does not accept a NUL, so no stored price matches.
    if (model.includes('\0') || !(await flow.deletePrice(db, actorOf(caller), model))) {
      throw new CallFailure('NOT_FOUND', 'The workspace has no custom price for this model.');
    }
    return { result: null };
  });
}

function optionsOfModel(): CallFailure {
  return invalidRequest('Field "model": a price of the built-in model is one for all its options.');
}

function parsePrice(name: string, value: string | number): string {
  const text = priceText(value, pricePerMillionMax);
  if (text !== null) return text;
  throw invalidRequest(
    `Field "${name}" must be a decimal from 0 to ${pricePerMillionMax} with at most 12 decimal places.`,
  );
}
