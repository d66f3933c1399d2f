import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionSummary } from '../../../core/execution/execution-fields.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readExecutionListRows } from '../../../engine/read/executions.ts';
import { abortOnDisconnect } from '../../../http/connection/disconnect.ts';
import { pageDefault } from '../../../http/contract/contract-limits.ts';
import type { Endpoint } from '../../../http/contract/operation.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { takeResponseSlot } from '../../../http/limits/response-slots.ts';
import { historySource } from '../../../http/response/history-source.ts';
import { toJson } from '../../../http/response/json-response.ts';
import { emptyStream, streamOf } from '../../../http/response/stream-response.ts';
import { type Context, type HandlerResponse, requireCaller, route } from '../../../http/route.ts';
import { listVisibleAgents } from '../../agents/statements/agents.ts';
import type { ApiDeps } from '../../api-deps.ts';
import {
  listAllExecutions,
  listExecutions,
  listExecutionsUnversioned,
} from '../../executions/contract/executions-contract.ts';
import { executionWire } from '../../executions/routes/execution-wire.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { reauthorized } from '../../people/access/reauthorize.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import { wholeRecords } from '../verbs/list-executions.ts';
import { type ListQuery, readListPage, readListQuery, readsRecords } from './list-page.ts';

/** Lists the executions of one agent, and of all agents that the caller can see. */
export function historyRoutes(app: FastifyInstance, deps: ApiDeps): void {
  for (const endpoint of [listExecutions, listExecutionsUnversioned]) {
    route(app, deps, endpoint, (context) => listOfAgent(deps, context, endpoint), limitLists);
  }

  route(
    app,
    deps,
    listAllExecutions,
    async ({ query, caller, request, reply }) => {
      const agentIds = await deps.historyReads.read(caller, (db) => listVisibleAgents(db, caller));
      const endpoint = listAllExecutions;
      return pageOf(deps, { endpoint, agentIds, query, caller, request, reply });
    },
    limitLists,
  );
}

async function listOfAgent(
  deps: ApiDeps,
  context: Context<typeof listExecutions | typeof listExecutionsUnversioned>,
  endpoint: Endpoint,
) {
  const { params, query, request, reply } = context;
  const caller = requireCaller(context.caller);
  const agent = await visibleAgent(deps.reads, caller, params.agentId);
  allowAgentOrigins({ request, reply, caller }, agent);
  return pageOf(deps, { endpoint, agentIds: [agent.id], query, caller, request, reply });
}

interface PageRequest {
  readonly endpoint: Endpoint;
  readonly agentIds: readonly string[];
  readonly query: ListQuery;
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function pageOf(
  deps: ApiDeps,
  { endpoint, agentIds, query, caller, request, reply }: PageRequest,
): Promise<HandlerResponse> {
  const { historyReads } = deps;
  const { limit = pageDefault } = query;
  const { signal } = abortOnDisconnect(reply);
  const list = { ...readListQuery(query, agentIds), limit, signal };
  const source = historySource(request, reply, { fresh: query.include === 'processing' });
  const { shown, rest } = await historyReads.read(caller, (db) => readListPage(db, list), {
    ...source,
    isSearch: readsRecords(list),
    signal,
  });
  if (shown.every(({ fits }) => fits)) {
    return { status: 200, body: { executions: shown.map(executionWire), ...rest } };
  }
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
  const slot = takeResponseSlot(deps.shares.longPages, caller.workspaceId);
  const readRows = (ids: readonly string[]) =>
    historyReads.read(caller, (db) => readExecutionListRows(db, ids));
  const records = reauthorized({ ...deps, request, endpoint }, wholeRecords(readRows, shown));
  const texts = pageTexts(records, rest);
  const body = streamOf(texts, request, slot, { kind: 'page', bytes: deps.streams.bytes });
  return { status: 200, body, headers };
}

/** Streams the same response if its records are too long to be in memory together. */
async function* pageTexts(
  batches: AsyncIterable<readonly ExecutionSummary[]>,
  rest: object,
): AsyncGenerator<string, void, undefined> {
  yield '{"executions":[';
  let separator = '';
  for await (const rows of batches) {
    for (const row of rows) {
      yield separator + toJson(executionWire(row));
      separator = ',';
    }
  }
  yield `],${toJson(rest).slice(1)}`;
}
