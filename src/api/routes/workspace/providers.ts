import type { FastifyInstance } from 'fastify';
import {
  deleteProvider,
  getProvider,
  listProviderModels,
  listProviders,
  type Provider,
  putProvider,
  testProvider,
} from '../../../contract/workspace/providers.ts';
import { notFound } from '../../../core/failure.ts';
import { isProviderName } from '../../../core/model/provider.ts';
import { actorOf } from '../../../core/people/audit.ts';
import * as flow from '../../../flow/workspace/put-provider.ts';
import {
  listProviderModels as listModels,
  testProvider as test,
} from '../../../flow/workspace/test-provider.ts';
import * as store from '../../../store/people/providers.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route } from '../../http/route.ts';

/** Providers and their credentials. No response contains a credential. */
export function providerRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, putProvider, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    const { kind, apiKey = null, baseURL = null, organization = null, project = null } = body;
    const { auth = null } = body;
    const extras = {
      headers: body.headers ?? {},
      query: body.query ?? {},
      bodyExtra: body.bodyExtra ?? {},
    };
    const provider = {
      name: params.name,
      kind,
      apiKey,
      baseURL,
      extras,
      organization,
      project,
      auth,
    };
    const input = { actor: actorOf(caller), ...provider };
    return { status: 200, body: providerWire(await flow.putProvider(deps, input)) };
  });

  route(app, deps, listProviders, async ({ caller }) => {
    const rows = await store.listProviders(db, caller.workspaceId);
    const environment = deps.directory.environment.map(({ name, kind }) => ({ name, kind }));
    return { status: 200, body: { providers: rows.map(providerWire), environment } };
  });

  route(app, deps, getProvider, async ({ params, caller }) => {
    const { name } = params;
    const row = isProviderName(name) && (await store.findProvider(db, caller.workspaceId, name));
    if (!row) throw notFound('provider');
    return { status: 200, body: providerWire(row) };
  });

  route(app, deps, deleteProvider, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const { name } = params;
    if (!isProviderName(name) || !(await flow.deleteProvider(db, actorOf(caller), name))) {
      throw notFound('provider');
    }
    return { status: 204, body: null };
  });

  route(app, deps, listProviderModels, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const { name } = params;
    if (!isProviderName(name)) throw notFound('provider');
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

function providerWire(row: store.ProviderRow): Provider {
  return {
    name: row.name,
    kind: row.kind,
    baseURL: row.baseUrl,
    hasApiKey: row.hasApiKey,
    headerNames: [...row.headerNames],
    queryNames: [...row.queryNames],
    bodyExtraNames: [...row.bodyExtraNames],
    organization: row.organization,
    project: row.project,
    auth: row.auth,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
