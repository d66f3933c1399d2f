import type { FastifyInstance } from 'fastify';
import { allowedActions, callable } from '../../../core/agent/agent.ts';
import type { AgentChange } from '../../../core/agent/agent-settings.ts';
import { agentLimits, peekWindows, stageLimits } from '../../../core/agent/limits.ts';
import { invalidRequest, requireFound } from '../../../core/failure.ts';
import { storedId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { cancelRunningOf } from '../../../engine/complete/cancel-running.ts';
import { requireSchemas } from '../../../engine/compute/require-schemas.ts';
import { readCounts } from '../../../engine/fields/limit-rows.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { usageOfWindows } from '../../../http/limits/rate-headers.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { readRange } from '../../../http/request/range.ts';
import { type Context, route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import {
  requirePermission,
  requireWholeWorkspace,
} from '../../people/access/require-permission.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import * as contract from '../contract/agents-contract.ts';
import * as store from '../statements/agents.ts';
import { listAllPins, listPins, type PinRow } from '../statements/pins.ts';
import { type AgentPatch, changeAgent } from '../verbs/change-agent.ts';
import { deleteAgent, moveAgent } from '../verbs/change-stage.ts';
import { createAgent } from '../verbs/create-agent.ts';
import { agentPatch, newAgent } from './agent-input.ts';

/** Creates, lists, reads and changes agents, their stage, limits and pins. */
export function agentRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createAgent, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await createAgent(db, caller, await withValidSchemas(deps, caller, newAgent(body)));
    const location = `/api/v1/agents/${toId('agent', row.id)}`;
    return { result: agentOf(row), headers: { etag: etag(row.revision), location } };
  });

  route(app, deps, contract.listAgents, async ({ query, caller }) => {
    const page = readPage(query);
    const { status: stage = null, project = null, tag = null, q = null, archived = false } = query;
    const { model = null, sort = '-createdAt' } = query;
    const { promptId, promptVersionId } = query;
    const pinned = {
      promptId: promptId === undefined ? null : storedId('prompt', promptId),
      promptVersionId: promptVersionId === undefined ? null : storedId('version', promptVersionId),
    };
    const request = { ...page, ...pinned, stage, project, tag, model, q, sort, archived };
    const { rows, total } = await store.listAgents(db, caller, request);
    return { result: pageOf('agents', page, { rows: rows.map(agentOf), total }) };
  });

  route(app, deps, contract.getAgent, async (context) => {
    const row = await store.findAgent(db, context.caller, context.ids.agentId);
    return agentResponse(context, requireFound(row, 'agent'));
  });

  route(app, deps, contract.updateAgent, async (context) => {
    const { ids, body, caller, request } = context;
    const patch = await withValidSchemas(deps, caller, agentPatch(body));
    const row = await changeAgent(db, caller, ids.agentId, patch, ifMatch(request));
    return agentResponse(context, row);
  });

  route(app, deps, contract.deleteAgent, async ({ ids, caller, request }) => {
    await deleteAgent(db, caller, ids.agentId, ifMatch(request));
    return { result: null };
  });

  route(app, deps, contract.changeAgentStage, async (context) => {
    const { ids, body, caller } = context;
    const { action, cancelRunning = false } = body;
    if (cancelRunning && action !== 'disable') {
      throw invalidRequest('Field "cancelRunning" is only possible with the action "disable".');
    }
    if (cancelRunning) requirePermission(caller, 'cancel');
    const row = await moveAgent(db, caller, ids.agentId, action);
    if (cancelRunning) await cancelRunningOf(deps, row.id);
    return agentResponse(context, row);
  });

  route(app, deps, contract.getAgentLimits, async (context) => {
    const row = requireFound(
      await store.findAgent(db, context.caller, context.ids.agentId),
      'agent',
    );
    allowAgentOrigins(context, row);
    const { counts, nowMs } = await readCounts(db, row.id);
    const stage = stageLimits(row.stage, deps.testingLimits);
    const states = peekWindows(counts, agentLimits(row.rateLimits, stage), nowMs);
    return { result: { rateLimitUsage: usageOfWindows(states) } };
  });

  route(app, deps, contract.listPins, async ({ params, query, ...context }) => {
    const page = readPage(query);
    const agent = await visibleAgent(deps.reads, context.caller, params.agentId);
    allowAgentOrigins(context, agent);
    const { rows, total } = await listPins(db, 'agent', agent.id, page);
    return { result: pageOf('pins', page, { rows: rows.map(pinOf), total }) };
  });

  route(app, deps, contract.listAllPins, async ({ query, caller }) => {
    const page = readPage(query);
    const { rows, total } = await listAllPins(db, caller, readRange(query), page);
    return { result: pageOf('pins', page, { rows: rows.map(pinOf), total }) };
  });
}

async function withValidSchemas<Written extends AgentChange | AgentPatch>(
  { compute }: ApiDeps,
  { workspaceId }: Caller,
  written: Written,
): Promise<Written> {
  const { config = {} } = 'change' in written ? written.change : written;
  await requireSchemas(compute, workspaceId, config, 'agentConfig.');
  return written;
}

type AgentContext = Context<
  typeof contract.getAgent | typeof contract.updateAgent | typeof contract.changeAgentStage
>;

/** Allows the agent's origins, as the preflight of the same path does. */
function agentResponse(context: AgentContext, row: store.AgentRow) {
  allowAgentOrigins(context, row);
  return { result: agentOf(row), headers: { etag: etag(row.revision) } };
}

function agentOf(row: store.AgentRow) {
  return {
    ...row,
    agentName: row.name,
    agentConfig: row.config,
    // An archived agent keeps its setting for its restoration, but rejects executions.
    apiEnabled: callable(row),
    status: row.stage,
    allowedActions: allowedActions(row),
  };
}

function pinOf<Row extends PinRow>(row: Row) {
  return { ...row, promptVersionId: row.versionId, promptVersionLabel: row.versionLabel };
}
