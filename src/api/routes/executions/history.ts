import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  listAllExecutions,
  listExecutions,
  listExecutionsUnversioned,
} from '../../../contract/executions/executions.ts';
import {
  longPagesMax,
  longPagesOfWorkspaceMax,
  pageDefault,
  recordsReadMax,
  recordsSearchedMax,
} from '../../../contract/limits.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { toId } from '../../../core/id.ts';
import {
  listExecutions as listHistory,
  wholeRecords,
} from '../../../flow/history/list-executions.ts';
import { listVisibleAgents } from '../../../store/agent/agents.ts';
import type { ExecutionRow } from '../../../store/execution/executions.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { toJson } from '../../http/json-response.ts';
import { limitLists } from '../../http/list-limit.ts';
import { type Context, type HandlerResponse, known, route } from '../../http/route.ts';
import { emptyStream, streamOf } from '../../http/stream.ts';
import { createStreamSlots, type StreamSlots } from '../../http/stream-slots.ts';
import { executionWire } from './execution-wire.ts';
import { type HistoryQuery, readCursor, readHistory } from './history-query.ts';

/** The history of one agent, and of all that the caller sees. */
export function historyRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;
  const limited = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);
  const slots = createStreamSlots('page', {
    max: longPagesMax,
    ofWorkspaceMax: longPagesOfWorkspaceMax,
  });

  for (const endpoint of [listExecutions, listExecutionsUnversioned]) {
    route(app, parts, endpoint, (context) => listOne(parts, slots, context), limited);
  }

  route(
    app,
    parts,
    listAllExecutions,
    async ({ query, caller, request }) => {
      const agentIds = await listVisibleAgents(db, caller);
      return page({ db, slots }, { agentIds, query, caller, request });
    },
    limited,
  );
}

async function listOne(
  parts: ApiDeps,
  slots: StreamSlots,
  context: Context<typeof listExecutions | typeof listExecutionsUnversioned>,
) {
  const { params, query, request, reply } = context;
  const caller = known(context.caller);
  const agent = await visibleAgent(parts.reads, caller, params.agentId);
  allowAgentOrigins({ request, reply, caller }, agent);
  return page({ db: parts.db, slots }, { agentIds: [agent.id], query, caller, request });
}

interface Asked {
  readonly agentIds: readonly string[];
  readonly query: HistoryQuery & { limit?: number; offset?: number; cursor?: string };
  readonly caller: Caller;
  readonly request: FastifyRequest;
}

async function page(
  { db, slots }: { readonly db: ApiDeps['db']; readonly slots: StreamSlots },
  { agentIds, query, caller, request }: Asked,
): Promise<HandlerResponse> {
  const { limit = pageDefault, offset = 0 } = query;
  const { rows, total } = await listHistory(db, {
    ...readHistory(query, agentIds),
    includeProcessing: query.include === 'processing' && query.status === undefined,
    omitsBodies: query.omit === 'bodies',
    offset,
    after: readCursor(query),
    recordsReadMax: query.q === undefined ? recordsReadMax : recordsSearchedMax,
    // One more than asked for says whether there are more.
    limit: limit + 1,
  });
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const rest = {
    pagination: { limit, offset, total, hasMore },
    ...(hasMore && last && { nextCursor: toId('execution', last.id) }),
  };
  if (shown.every(({ fits }) => fits)) {
    return { status: 200, body: { executions: shown.map(executionWire), ...rest } };
  }
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
  const slot = slots.acquire(caller.workspaceId);
  const body = streamOf(textsOf(wholeRecords(db, shown), rest), request, slot);
  return { status: 200, body, headers };
}

/** The same answer where the records are too long to be held together. */
async function* textsOf(
  batches: AsyncIterable<readonly ExecutionRow[]>,
  rest: object,
): AsyncGenerator<string, void, undefined> {
  yield '{"executions":[';
  let between = '';
  for await (const rows of batches) {
    for (const row of rows) {
      yield between + toJson(executionWire(row));
      between = ',';
    }
  }
  yield `],${toJson(rest).slice(1)}`;
}
