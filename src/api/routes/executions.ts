import type { FastifyInstance, FastifyReply } from 'fastify';
import { cancelExecution, getExecution } from '../../contract/executions.ts';
import type { Caller } from '../../core/admission.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId } from '../../core/id.ts';
import type { Reads } from '../../flow/reads.ts';
import type { Waiters } from '../../flow/wait.ts';
import type { ExecutionDetailRow } from '../../store/executions.ts';
import { mayRead, noSuchExecution, visibleExecution } from '../access.ts';
import { allowOrigin } from '../cors.ts';
import { executionDetailWire } from '../execution-wire.ts';
import type { ApiParts } from '../parts.ts';
import { route } from '../route.ts';

/** Status and cancel. */
export function executionRoutes(app: FastifyInstance, parts: ApiParts): void {
  const { reads, waiters } = parts;

  route(app, parts, getExecution, async ({ params, query, caller, request, reply }) => {
    const read = () => readableExecution(reads, caller, params);
    const { agent, execution } = query.wait
      ? await waitFor(waiters, params.executionId, { ms: query.wait * 1000, read, reply })
      : await read();
    allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
    return {
      status: 200,
      body: executionDetailWire(execution),
      ...(execution.status === 'processing' && { headers: { 'retry-after': '1' } }),
    };
  });

  route(app, parts, cancelExecution, async ({ params, caller, request, reply }) => {
    const { agent, execution } = await visibleExecution(reads, caller, params);
    allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
    if (!(await parts.canceler.cancel(execution.id))) {
      throw new CallFailure('ALREADY_ENDED', `The execution has ended already.`);
    }
    const { execution: ended } = await visibleExecution(reads, caller, params);
    const body = executionDetailWire(mayRead(caller, ended) ? ended : withoutContents(ended));
    return { status: 200, body };
  });
}

type Visible = Awaited<ReturnType<typeof visibleExecution>>;

/** A key that may execute but not read reaches the runs it started, and no others exist for it. */
async function readableExecution(
  reads: Reads,
  caller: Caller,
  path: Parameters<typeof visibleExecution>[2],
): Promise<Visible> {
  const found = await visibleExecution(reads, caller, path);
  if (!mayRead(caller, found.execution)) throw noSuchExecution();
  return found;
}

/** Waits before it reads: a run that ends in between is not missed. */
async function waitFor(
  waiters: Waiters,
  wireId: string,
  { ms, read, reply }: { ms: number; read: () => Promise<Visible>; reply: FastifyReply },
): Promise<Visible> {
  const executionId = fromId('execution', wireId);
  if (executionId === null) return read();
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const waited = waiters.wait(executionId, ms, gone.signal);
  try {
    const found = await read();
    if (found.execution.status !== 'processing') return found;
    await waited;
    return await read();
  } finally {
    gone.abort();
  }
}

/** Who may end a run and not read it learns that it has ended. */
function withoutContents(row: ExecutionDetailRow): ExecutionDetailRow {
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
