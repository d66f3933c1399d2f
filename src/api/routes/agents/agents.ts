import type { FastifyInstance } from 'fastify';
import * as contract from '../../../contract/agents/agents.ts';
import type { AgentChange } from '../../../core/agent/agent-settings.ts';
import { agentLimits, peekWindows, stageLimits } from '../../../core/execution/limits.ts';
import { invalidRequest, notFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type AgentPatch, changeAgent } from '../../../flow/agent/change-agent.ts';
import { deleteAgent, moveAgent } from '../../../flow/agent/change-stage.ts';
import { createAgent } from '../../../flow/agent/create-agent.ts';
import { requireSchemas } from '../../../flow/compute/require-schemas.ts';
import { cancelRunningOf } from '../../../flow/execution/cancel-running.ts';
import { readCounts } from '../../../store/admission/limits.ts';
import * as store from '../../../store/agent/agents.ts';
import { listAllPins, listPins } from '../../../store/agent/pins.ts';
import { requirePermission, requireWholeWorkspace } from '../../access/require-permission.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { etag, ifMatch } from '../../http/request/if-match.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { readRange } from '../../http/request/range.ts';
import { type Context, type HandlerResponse, route } from '../../http/route.ts';
import { limitWire } from '../workspace/limit-wire.ts';
import { agentPatch, agentPinWire, agentWire, newAgent, pinWire } from './agent-wire.ts';

/** Creates, lists, reads and changes agents, their stage, limits and pins. */
export function agentRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createAgent, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await createAgent(db, caller, await withValidSchemas(deps, caller, newAgent(body)));
    const location = `/api/v1/agents/${toId('agent', row.id)}`;
    return { status: 201, body: agentWire(row), headers: { etag: etag(row.revision), location } };
  });

  route(app, deps, contract.listAgents, async ({ query, caller }) => {
    const page = readPage(query);
    const { status: stage = null, project = null, tag = null, q = null, archived = false } = query;
    const { model = null, sort = '-createdAt' } = query;
    const ids = {
      promptId: readReference('prompt', query.promptId),
      promptVersionId: readReference('version', query.promptVersionId),
    };
    const request = { ...page, ...ids, stage, project, tag, model, q, sort, archived };
    const { rows, total } = await store.listAgents(db, caller, request);
    return pageResponse('agents', rows.map(agentWire), { ...page, total });
  });

  route(app, deps, contract.getAgent, async (context) => {
    const agentId = fromId('agent', context.params.agentId);
    const row = agentId && (await store.findAgent(db, context.caller, agentId));
    if (!row) throw notFound('agent');
    return agentResponse(context, row);
  });

  route(app, deps, contract.updateAgent, async (context) => {
    const { params, body, caller, request } = context;
    const agentId = fromId('agent', params.agentId);
    const patch = await withValidSchemas(deps, caller, agentPatch(body));
    const row = await changeAgent(db, caller, agentId, patch, ifMatch(request));
    return agentResponse(context, row);
  });

  route(app, deps, contract.deleteAgent, async ({ params, caller }) => {
    await deleteAgent(db, caller, fromId('agent', params.agentId));
    return { status: 204, body: null };
  });

  route(app, deps, contract.changeAgentStage, async (context) => {
    const { params, body, caller } = context;
    const agentId = fromId('agent', params.agentId);
    const { action, cancelRunning = false } = body;
    if (cancelRunning && action !== 'disable') {
      throw invalidRequest('Field "cancelRunning" is only possible with the action "disable".');
    }
    if (cancelRunning) requirePermission(caller, 'cancel');
    const row = await moveAgent(db, caller, agentId, action);
    if (cancelRunning) await cancelRunningOf(deps, row.id);
    return agentResponse(context, row);
  });

  route(app, deps, contract.getAgentLimits, async (context) => {
    const { caller, params, request, reply } = context;
    const agentId = fromId('agent', params.agentId);
    const row = agentId && (await store.findAgent(db, caller, agentId));
    if (!row) throw notFound('agent');
    allowAgentOrigins({ request, reply, caller }, row);
    const { counts, nowMs } = await readCounts(db, row.id);
    const stage = stageLimits(row.stage, deps.testingLimits);
    const states = peekWindows(counts, agentLimits(row.rateLimits, stage), nowMs);
    return { status: 200, body: { rateLimitUsage: limitWire(states) } };
  });

  route(app, deps, contract.listPins, async ({ params, query, caller, request, reply }) => {
    const page = readPage(query);
    const agent = await visibleAgent(deps.reads, caller, params.agentId);
    allowAgentOrigins({ request, reply, caller }, agent);
    const { rows, total } = await listPins(db, 'agent', agent.id, page);
    return pageResponse('pins', rows.map(pinWire), { ...page, total });
  });

  route(app, deps, contract.listAllPins, async ({ query, caller }) => {
    const page = readPage(query);
    const { rows, total } = await listAllPins(db, caller, readRange(query), page);
    return pageResponse('pins', rows.map(agentPinWire), { ...page, total });
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

/** The stored id of a filter; a malformed one matches nothing. */
function readReference(kind: 'prompt' | 'version', given: string | undefined): string | null {
  return given === undefined ? null : (fromId(kind, given) ?? noId);
}

const noId = '00000000-0000-0000-0000-000000000000';

type AgentContext = Context<
  typeof contract.getAgent | typeof contract.updateAgent | typeof contract.changeAgentStage
>;

/** Allows the agent's origins, as the preflight of the same path does. */
function agentResponse(
  { caller, request, reply }: AgentContext,
  row: store.AgentRow,
): HandlerResponse {
  allowAgentOrigins({ request, reply, caller }, row);
  return { status: 200, body: agentWire(row), headers: { etag: etag(row.revision) } };
}
