import type { FastifyInstance } from 'fastify';
import { notFound } from '../../core/failure.ts';
import { isProviderName } from '../../core/model/provider.ts';
import { actorOf } from '../../core/people/audit.ts';
import { route } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireWholeWorkspace } from '../people/access/require-permission.ts';
import {
  deleteProvider,
  getProvider,
  listProviderModels,
  listProviders,
  putProvider,
  testProvider,
} from './providers-contract.ts';
import * as store from './statements/providers.ts';
import * as flow from './verbs/put-provider.ts';
import { listProviderModels as listModels, testProvider as test } from './verbs/test-provider.ts';

/** Providers and their credentials. No response contains a credential. */
export function providerRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, putProvider, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { headers = {}, query = {}, bodyExtra = {}, ...settings } = body;
    const input = {
      actor: actorOf(caller),
      name: params.name,
      apiKey: null,
      baseURL: null,
      organization: null,
      project: null,
      auth: null,
      extras: { headers, query, bodyExtra },
      ...settings,
    };
    return { result: withURL(await flow.putProvider(deps, input)) };
  });

  route(app, deps, listProviders, async ({ caller }) => {
    const rows = await store.listProviders(db, caller.workspaceId);
    const { environment } = deps.directory;
    return { result: { providers: rows.map(withURL), environment } };
  });

  route(app, deps, getProvider, async ({ params, caller }) => {
    const { name } = params;
    const row = isProviderName(name) && (await store.findProvider(db, caller.workspaceId, name));
    if (!row) throw notFound('provider');
    return { result: withURL(row) };
  });

  route(app, deps, deleteProvider, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const { name } = params;
    if (!isProviderName(name) || !(await flow.deleteProvider(db, actorOf(caller), name))) {
      throw notFound('provider');
    }
    return { result: null };
  });

  route(app, deps, listProviderModels, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const { name } = params;
    const release = deps.shares.providerTests.take(caller.workspaceId);
    const body = await listModels(deps, caller.workspaceId, name).finally(release);
    return { status: 200, body };
  });

  route(app, deps, testProvider, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { name } = params;
    if (!isProviderName(name)) throw notFound('provider');
    const release = deps.shares.providerTests.take(caller.workspaceId);
    const tested = test(deps, actorOf(caller), name, body.model ?? null);
    return { status: 200, body: await tested.finally(release) };
  });
}

function withURL(row: store.ProviderRow) {
  return { ...row, baseURL: row.baseUrl };
}
