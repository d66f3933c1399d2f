import type { FastifyInstance } from 'fastify';
import { pricePerMillionMax } from '../../../contract/limits.ts';
import {
  deletePrice,
  listPrices,
  type Price,
  putPrice,
} from '../../../contract/workspace/providers.ts';
import { CallFailure } from '../../../core/failure.ts';
import { splitModelName } from '../../../core/model/model-port.ts';
import { priceText } from '../../../core/model/price.ts';
import * as store from '../../../store/people/prices.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** A workspace's own prices. */
export function priceRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;

  route(app, parts, listPrices, async ({ caller }) => {
    const rows = await store.listPrices(db, caller.workspaceId);
    return { status: 200, body: { prices: rows.map(priceWire) } };
  });

  route(app, parts, putPrice, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    if (splitModelName(body.model).provider === 'cueline') throw free();
    const optional = (name: 'cacheReadPerMillion' | 'cacheWritePerMillion') =>
      body[name] == null ? null : amount(name, body[name]);
    const row = await store.putPrice(db, caller.workspaceId, {
      model: body.model,
      inputPerMillion: amount('inputPerMillion', body.inputPerMillion),
      outputPerMillion: amount('outputPerMillion', body.outputPerMillion),
      cacheReadPerMillion: optional('cacheReadPerMillion'),
      cacheWritePerMillion: optional('cacheWritePerMillion'),
    });
    return { status: 200, body: priceWire(row) };
  });

  route(app, parts, deletePrice, async ({ query, caller }) => {
    requireWholeWorkspace(caller);
    const { model } = query;
    // PostgreSQL takes no NUL, so nothing stored can hold one.
    if (model.includes('\0') || !(await store.deletePrice(db, caller.workspaceId, model))) {
      throw new CallFailure('NOT_FOUND', 'The workspace has no price of its own for this model.');
    }
    return { status: 204, body: null };
  });
}

function free(): CallFailure {
  const message = 'Field "model" is a model that is built in, and costs nothing.';
  return new CallFailure('INVALID_REQUEST', message);
}

function amount(name: string, value: string | number): string {
  const text = priceText(value, pricePerMillionMax);
  if (text !== null) return text;
  throw new CallFailure(
    'INVALID_REQUEST',
    `Field "${name}" must be a decimal from 0 to ${pricePerMillionMax} with at most 12 places.`,
  );
}

function priceWire({ updatedAt, ...row }: store.PriceRow): Price {
  return { ...row, updatedAt: updatedAt.toISOString() };
}
