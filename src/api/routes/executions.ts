import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  cancelExecution,
  getExecution,
  listExecutions,
  listExecutionsUnversioned,
} from '../../contract/executions.ts';
import { pageDefault } from '../../contract/limits.ts';
import type { Caller } from '../../core/admission.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId, toId } from '../../core/id.ts';
import { secondsUntil } from '../../core/limits.ts';
import { countList } from '../../store/callers.ts';
import type { Db } from '../../store/db.ts';
import * as store from '../../store/executions.ts';
import { visibleAgent } from '../access.ts';
import { allowOrigin } from '../cors.ts';
import { executionDetailWire, executionWire } from '../execution-wire.ts';
import type { ApiParts } from '../parts.ts';
import { readRange } from '../range.ts';
import { rateHeaders } from '../rate-headers.ts';
import { type Context, known, route } from '../route.ts';

/** Status, cancel and list. */
export function executionRoutes(app: FastifyInstance, parts: ApiParts): void {
  const { db, waiters } = parts;

  route(app, parts, getExecution, async ({ params, query, caller, request, reply }) => {
    const agent = await visibleAgent(db, caller, params.agentId);
    allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const executionId = fromId('execution', params.executionId);
    // Waits before it reads: a run that ends in between is not missed.
    const waited =
      executionId && query.wait ? waiters.wait(executionId, query.wait * 1000, gone.signal) : null;
    let row = await readableExecution(db, caller, agent.id, params.executionId).catch(
      (error: unknown) => {
        gone.abort();
        throw error;
      },
    );
    if (waited && row.status === 'processing') {
      await waited;
      row = await readableExecution(db, caller, agent.id, params.executionId);
    }
    gone.abort();
    return {
      status: 200,
      body: executionDetailWire(row),
      ...(row.status === 'processing' && { headers: { 'retry-after': '1' } }),
    };
  });

  route(app, parts, cancelExecution, async ({ params, caller, request, reply }) => {
    const agent = await visibleAgent(db, caller, params.agentId);
    allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
    const row = await foundExecution(db, agent.id, params.executionId);
    if (!(await parts.canceler.cancel(row.id))) {
      throw new CallFailure('ALREADY_ENDED', `The execution has ended already.`);
    }
    return {
      status: 200,
      body: executionDetailWire(await foundExecution(db, agent.id, params.executionId)),
    };
  });

  for (const endpoint of [listExecutions, listExecutionsUnversioned]) {
    const first = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);
    route(app, parts, endpoint, (context) => list(parts, context), first);
  }
}

async function list(
  parts: ApiParts,
  context: Context<typeof listExecutions | typeof listExecutionsUnversioned>,
) {
  const { params, query, request, reply } = context;
  const caller = known(context.caller);
  const agent = await visibleAgent(parts.db, caller, params.agentId);
  allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
  const { limit = pageDefault, offset = 0, status = null, source = null } = query;
  const { startMs, endMs } = readRange(query);
  const { rows, total } = await store.listExecutions(parts.db, {
    agentId: agent.id,
    status,
    source,
    startMs,
    endMs,
    offset,
    after: cursor(query),
    includeProcessing: query.include === 'processing',
    // One more than asked for says whether there are more.
    limit: limit + 1,
  });
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    status: 200,
    body: {
      executions: shown.map(executionWire),
      pagination: { limit, offset, total, hasMore },
      ...(hasMore && last && { nextCursor: toId('execution', last.id) }),
    },
  };
}

async function limitLists(parts: ApiParts, caller: Caller, reply: FastifyReply) {
  const limit = parts.listPerMinute;
  const { used, nowMs, resetAtMs } = await countList(parts.db, caller.id);
  const remaining = Math.max(0, limit - used);
  reply.headers(
    rateHeaders([{ scope: 'key', window: 'minute', limit, remaining, resetAtMs }], nowMs),
  );
  if (used <= limit) return;
  throw new CallFailure(
    'RATE_LIMIT_EXCEEDED',
    `Limit of list calls exceeded: ${limit} per minute.`,
    {
      retryAfter: secondsUntil(resetAtMs, nowMs),
    },
  );
}

/** A cursor is the last execution of the page before; both ways to page at once would contradict each other. */
function cursor(query: { cursor?: string; offset?: number }): string | null {
  if (query.cursor === undefined) return null;
  const after = fromId('execution', query.cursor);
  if (after === null)
    throw new CallFailure('INVALID_REQUEST', 'Parameter "cursor" must be a nextCursor.');
  if (query.offset !== undefined) {
    throw new CallFailure('INVALID_REQUEST', 'Parameter "offset" cannot stand beside "cursor".');
  }
  return after;
}

async function foundExecution(
  db: Db,
  agentId: string,
  wireId: string,
): Promise<store.ExecutionDetailRow> {
  const executionId = fromId('execution', wireId);
  const row = executionId === null ? null : await store.findExecution(db, agentId, executionId);
  if (!row) throw new CallFailure('NOT_FOUND', 'There is no such execution.');
  return row;
}

/** A key that may execute but not read reaches the runs it started, and no others exist for it. */
async function readableExecution(db: Db, caller: Caller, agentId: string, wireId: string) {
  const row = await foundExecution(db, agentId, wireId);
  if (caller.rights.includes('read') || row.apiKeyId === caller.id) return row;
  throw new CallFailure('NOT_FOUND', 'There is no such execution.');
}
