import type { FastifyInstance } from 'fastify';
import { cancelExecution, getExecution } from '../../contract/executions.ts';
import type { Caller } from '../../core/admission.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId } from '../../core/id.ts';
import type { Db } from '../../store/db.ts';
import * as store from '../../store/executions.ts';
import { mayRead, visibleAgent } from '../access.ts';
import { allowOrigin } from '../cors.ts';
import { executionDetailWire } from '../execution-wire.ts';
import type { ApiParts } from '../parts.ts';
import { route } from '../route.ts';

/** Status and cancel. */
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
    const ended = await foundExecution(db, agent.id, params.executionId);
    const body = executionDetailWire(mayRead(caller, ended) ? ended : withoutContents(ended));
    return { status: 200, body };
  });
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
  if (mayRead(caller, row)) return row;
  throw new CallFailure('NOT_FOUND', 'There is no such execution.');
}

/** Who may end a run and not read it learns that it has ended. */
function withoutContents(row: store.ExecutionDetailRow): store.ExecutionDetailRow {
  return {
    ...row,
    systemPrompt: null,
    userPrompt: null,
    inputVariables: null,
    output: null,
    ipAddress: null,
    userAgent: null,
  };
}
