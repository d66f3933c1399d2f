import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { runItemsMax, runsCountedMax } from '../../../contract/limits.ts';
import * as contract from '../../../contract/workflows/workflow-runs.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { StartCall, Started } from '../../../flow/workflow/start-workflow.ts';
import * as store from '../../../store/workflow/workflow-history.ts';
import { listItems } from '../../../store/workflow/workflow-runs.ts';
import { bearerHash, unauthorized } from '../../access/authenticate.ts';
import { mayRead } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowOrigin } from '../../http/cors.ts';
import { errorResponse } from '../../http/error-response.ts';
import { limitLists } from '../../http/list-limit.ts';
import { pageResponse, readPage } from '../../http/page.ts';
import { rateHeaders } from '../../http/rate-headers.ts';
import { type HandlerResponse, route, routePath, send } from '../../http/route.ts';
import { waitFor } from '../../http/wait-for.ts';
import { idempotency, readDashboardCall, readExecuteBody } from '../executions/execute-call.ts';
import { itemWire, workflowRunDetailWire, workflowRunWire } from './workflow-run-wire.ts';
import { foundWorkflow } from './workflows.ts';

/** Runs of workflows: starting, listing, following and canceling them. */
export function workflowRunRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;
  const limited = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);
  executeRoutes(app, parts);

  route(
    app,
    parts,
    contract.listWorkflowRuns,
    async ({ params, query, caller }) => {
      const page = readPage(query);
      const { status = null, trigger = null } = query;
      const workflow = await foundWorkflow(db, caller, params.workflowId);
      const after = readCursor(query);
      const question = { ...page, workflowId: workflow.id, status, trigger, after };
      // One more than asked for says whether there are more.
      const asked = { ...question, limit: page.limit + 1, countedMax: runsCountedMax };
      const { rows, total, totalIsExact } = await store.listWorkflowRuns(db, caller, asked);
      const shown = rows.slice(0, page.limit);
      const hasMore = rows.length > page.limit;
      const last = shown.at(-1);
      const { body } = pageResponse('runs', shown.map(workflowRunWire), { ...page, total });
      return {
        status: 200,
        body: {
          ...body,
          pagination: { ...page, total, hasMore },
          totalIsExact,
          ...(hasMore && last && { nextCursor: toId('workflowRun', last.id) }),
        },
      };
    },
    limited,
  );

  route(app, parts, contract.getWorkflowRun, async ({ params, query, caller, request, reply }) => {
    const id = fromId('workflowRun', params.workflowRunId);
    const read = async (now: Caller) =>
      readable(now, await foundRun(parts, now, params, query.omit === 'bodies'));
    const again = () => parts.authenticator.authenticate(request, contract.getWorkflowRun);
    const wait = { id, seconds: query.wait, caller, again, read };
    const { waitSlots: slots, workflowRunWaiters: waiters } = parts;
    return answer(await waitFor({ slots, waiters }, wait, reply));
  });

  route(
    app,
    parts,
    contract.listWorkflowRunItems,
    async ({ params, query, caller }) => {
      const page = readPage(query);
      const { status = null } = query;
      const run = readable(caller, await store.findVisibleRun(db, caller, idsOf(params)));
      const step = run.definition.steps.find(({ name }) => name === params.stepName);
      if (!step) throw new CallFailure('NOT_FOUND', 'The run has no such step.');
      const { rows, total } = await listItems(db, { runId: run.id, step: step.name, status }, page);
      return pageResponse(
        'items',
        rows.map((row) => itemWire(step, row)),
        { ...page, total },
      );
    },
    limited,
  );

  route(app, parts, contract.cancelWorkflowRun, async ({ params, caller }) => {
    const row = await foundRun(parts, caller, params);
    if (!(await parts.workflowCanceler.cancel(row.id))) {
      throw new CallFailure('ALREADY_ENDED', 'The run has ended already.');
    }
    // Who may end a run and not read it learns that it has ended.
    return answer(await foundRun(parts, caller, params, !mayRead(caller, row)));
  });
}

interface InPath {
  readonly workflowId: string;
  readonly workflowRunId: string;
}

function executeRoutes(app: FastifyInstance, parts: ApiDeps): void {
  type Params = { Params: { workflowId: string } };
  app.post<Params>(routePath(contract.executeWorkflow), async (request, reply) => {
    const hash = bearerHash(request);
    if (!hash) throw unauthorized();
    parts.onKeyUsed(hash);
    if (request.headers.origin) {
      const caller = await parts.reads.caller(hash);
      allowOrigin(request, reply, caller?.allowedOrigins ?? []);
    }
    const body = await readExecuteBody(request, 'input');
    const credential = { kind: 'key', hash } as const;
    await start(parts, request, reply, { credential, trigger: 'api', body });
    return reply;
  });
  app.post<Params>(routePath(contract.executeWorkflowInDashboard), async (request, reply) => {
    const endpoint = contract.executeWorkflowInDashboard;
    const call = await readDashboardCall(parts, request, endpoint, 'input');
    await start(parts, request, reply, { ...call, trigger: 'dashboard' });
    return reply;
  });
}

async function start(
  parts: ApiDeps,
  request: FastifyRequest<{ Params: { workflowId: string } }>,
  reply: FastifyReply,
  from: Pick<StartCall, 'credential' | 'trigger' | 'body'>,
): Promise<void> {
  const call: StartCall = {
    ...from,
    workflowId: fromId('workflow', request.params.workflowId),
    ...idempotency(request),
  };
  const started = await parts.workflowStarter.start(call);
  reply.headers(rateHeaders(started.states, started.nowMs));
  send(reply, startedResponse(started, request.id));
}

/** What whoever started a run is answered, by whatever way. */
export function startedResponse(started: Started, requestId: string): HandlerResponse {
  if (started.kind === 'refused') return errorResponse(started, requestId);
  const workflowId = toId('workflow', started.workflowId);
  const workflowRunId = toId('workflowRun', started.runId);
  const statusUrl = `/api/v1/workflows/${workflowId}/runs/${workflowRunId}`;
  const { ignoredInput } = started;
  return {
    status: 202,
    body: { workflowRunId, workflowId, status: 'processing', statusUrl, ignoredInput },
    headers: { location: statusUrl, ...(started.replayed && { 'idempotent-replayed': 'true' }) },
  };
}

function answer(row: store.WorkflowRunDetailRow): HandlerResponse {
  return {
    status: 200,
    body: workflowRunDetailWire(row),
    ...(row.status === 'processing' && { headers: { 'retry-after': '1' } }),
  };
}

/** The stored ids of a workflow and a run of it; throws where what the path has cannot be any. */
function idsOf({ workflowId, workflowRunId }: InPath): { workflowId: string; id: string } {
  const workflow = fromId('workflow', workflowId);
  const id = fromId('workflowRun', workflowRunId);
  if (workflow === null || id === null) throw noSuchRun();
  return { workflowId: workflow, id };
}

async function foundRun({ db }: ApiDeps, caller: Caller, at: InPath, omitsBodies = false) {
  const asked = { ...idsOf(at), itemsShown: runItemsMax, omitsBodies };
  const row = await store.findRunDetail(db, caller, asked);
  if (!row) throw noSuchRun();
  return row;
}

/** A key that may execute but not read reaches the runs it started, and no others exist for it. */
function readable<Row extends { readonly apiKeyId: string | null }>(
  caller: Caller,
  row: Row | null,
): Row {
  if (row && mayRead(caller, row)) return row;
  throw noSuchRun();
}

function noSuchRun(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such run.');
}

function readCursor({ cursor, offset }: { cursor?: string; offset?: number }): string | null {
  if (cursor === undefined) return null;
  const after = fromId('workflowRun', cursor);
  if (after === null) {
    throw new CallFailure('INVALID_REQUEST', 'Parameter "cursor" must be a nextCursor.');
  }
  if (offset === undefined) return after;
  const message = 'Parameter "offset" cannot stand beside "cursor".';
  throw new CallFailure('INVALID_REQUEST', message);
}
