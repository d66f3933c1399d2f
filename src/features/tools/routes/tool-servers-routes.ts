import type { FastifyInstance } from 'fastify';
import { toId } from '../../../core/id.ts';
import { requireToolSchemas } from '../../../engine/compute/require-schemas.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import * as contract from '../contract/tool-servers-contract.ts';
import { listToolServers, listTools } from '../statements/tool-servers.ts';
import * as flow from '../verbs/change-tool-server.ts';
import { checkToolServer, type TryDeps, tryTool } from '../verbs/try-tool.ts';

export type ToolServerRouteDeps = ApiDeps & Omit<TryDeps, 'db'>;

/** Tool servers. No response contains a header's value, and a signing secret is shown once. */
export function toolServerRoutes(app: FastifyInstance, deps: ToolServerRouteDeps): void {
  const { db, compute } = deps;

  route(app, deps, contract.createToolServer, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    await requireToolSchemas(compute, caller.workspaceId, body.tools ?? []);
    const server = await flow.createToolServer(deps, caller, body);
    const location = `/api/v1/tool-servers/${toId('toolServer', server.id)}`;
    return { result: server, headers: { location, etag: etag(server.revision) } };
  });

  route(app, deps, contract.listToolServers, async ({ caller }) => {
    return { result: { toolServers: await listToolServers(db, caller.workspaceId) } };
  });

  route(app, deps, contract.listTools, async ({ query, caller }) => {
    requireWholeWorkspace(caller);
    return { result: { tools: await listTools(db, caller.workspaceId, query.server ?? null) } };
  });

  route(app, deps, contract.getToolServer, async ({ ids, caller }) => {
    return withTag(await flow.requireToolServer(db, caller, ids.toolServerId));
  });

  route(app, deps, contract.updateToolServer, async ({ ids, body, caller, request }) => {
    requireWholeWorkspace(caller);
    await requireToolSchemas(compute, caller.workspaceId, body.tools ?? []);
    const id = ids.toolServerId;
    return withTag(await flow.changeToolServer(deps, caller, id, body, ifMatch(request)));
  });

  route(app, deps, contract.deleteToolServer, async ({ ids, caller, request }) => {
    requireWholeWorkspace(caller);
    await flow.deleteToolServer(db, caller, ids.toolServerId, ifMatch(request));
    return { result: null };
  });

  route(app, deps, contract.rotateToolServer, async ({ ids, body, caller }) => {
    requireWholeWorkspace(caller);
    const { graceSeconds = 0 } = body;
    const signingSecret = await flow.rotateToolServer(deps, caller, ids.toolServerId, graceSeconds);
    return { result: { signingSecret } };
  });

  route(app, deps, contract.checkToolServer, async ({ ids, caller }) => {
    requireWholeWorkspace(caller);
    const release = deps.shares.providerTests.take(caller.workspaceId);
    const checked = await checkToolServer(deps, caller, ids.toolServerId).finally(release);
    return { result: { ...checked, added: [], changed: [], gone: [] } };
  });

  route(app, deps, contract.tryTool, async ({ ids, params, body, caller }) => {
    requireWholeWorkspace(caller);
    const release = deps.shares.providerTests.take(caller.workspaceId);
    const call = { name: params.toolName, argumentsJson: JSON.stringify(body.arguments ?? {}) };
    const tried = await tryTool(deps, caller, ids.toolServerId, call).finally(release);
    const { outcome } = tried;
    const isDone = outcome.kind === 'done';
    return {
      result: {
        ...tried,
        ...{ outcome: outcome.kind, isError: !isDone || outcome.isError },
        result: isDone ? outcome.result : null,
        problem: isDone ? null : outcome.problem,
      },
    };
  });
}

function withTag(server: flow.ToolServer) {
  return { result: server, headers: { etag: etag(server.revision) } };
}
