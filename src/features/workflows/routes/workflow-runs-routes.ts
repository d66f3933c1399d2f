import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallFailure, invalidRequest, notFound, requireFound } from '../../../core/failure.ts';
import { fromId, storedId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import {
  runItemsMax,
  runsCountedMax,
  runsWithUsageMax,
} from '../../../http/contract/contract-limits.ts';
import { allowOrigin } from '../../../http/cors.ts';
import { rateHeaders } from '../../../http/limits/rate-headers.ts';
import { bearerHash, unauthorized } from '../../../http/request/credential.ts';
import { pageOf, readCursor, readPage } from '../../../http/request/page-query.ts';
import { errorResponse } from '../../../http/response/error-response.ts';
import { type HandlerResponse, route, routePath, send } from '../../../http/route.ts';
import {
  executeBody,
  readDashboardCall,
  readExecuteBody,
  readIdempotency,
} from '../../executions/routes/execute-call.ts';
import { waitFor } from '../../executions/routes/wait-for.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { requirePermission } from '../../people/access/require-permission.ts';
import { mayRead } from '../../people/access/visible-resources.ts';
import * as contract from '../contract/workflow-runs-contract.ts';
import * as store from '../statements/workflow-history.ts';
import {
  listItems,
  type WorkflowRunSummaryRow,
  type WorkflowStepRow,
} from '../statements/workflow-runs.ts';
import {
  listExecutionsOfSteps,
  sumUsage,
  sumUsageOfRuns,
  type UsageRow,
} from '../statements/workflow-usage.ts';
import { readRerun } from '../verbs/rerun-items.ts';
import type { StartCall, Started } from '../verbs/start-call.ts';
import { itemOf, runOf, usageByPart, visibleRun, withVisibleError } from './visible-run.ts';
import type { WorkflowDeps } from './workflow-deps.ts';
import { requireWorkflow } from './workflows-routes.ts';

/** Starts, lists, reads and cancels workflow runs. */
export function workflowRunRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db, historyReads } = deps;
  executeRoutes(app, deps);
  singleRunRoutes(app, deps);

  route(
    app,
    deps,
    contract.listWorkflowRuns,
    async ({ ids, query, caller }) => {
      const page = readPage(query);
      const { status = null, trigger = null, failedItems, include } = query;
      if (include === 'usage') checkUsage(caller, page);
      const workflow = await requireWorkflow(db, caller, ids.workflowId);
      const after = readCursor('workflowRun', query);
      const named = {
        workflowId: workflow.id,
        status,
        trigger,
        failedItems: failedItems === 'true',
      };
      const filter = { ...page, ...named, after };
      // One row more than the page shows whether another page follows.
      const request = { ...filter, limit: page.limit + 1, countedMax: runsCountedMax };
      const { rows, total, totalIsExact } = await historyReads.read(caller, (db) =>
        store.listWorkflowRuns(db, caller, request),
      );
      const shown = rows.slice(0, page.limit);
      const hasMore = rows.length > page.limit;
      const last = shown.at(-1);
      const nextCursor = hasMore && last ? toId('workflowRun', last.id) : null;
      const pagination = { ...page, total, hasMore };
      const runs = include === 'usage' ? await withUsage(deps, caller, shown) : shown.map(runOf);
      return { result: { runs, pagination, totalIsExact, nextCursor } };
    },
    limitLists,
  );

  route(
    app,
    deps,
    contract.listWorkflowRunItems,
    async ({ params, query, caller }) => {
      const page = readPage(query);
      const { status = null, include } = query;
      if (include === 'usage') requirePermission(caller, 'read');
      const run = requireReadable(caller, await store.findVisibleRun(db, caller, idsOf(params)));
      const named = run.definition.steps.find(({ name }) => name === params.stepName);
      const step = requireFound(named, 'step', 'workflow run');
      const items = { runId: run.id, step: step.name, status };
      const { rows, total } = await historyReads.read(caller, (db) => listItems(db, items, page));
      const usage = include === 'usage' ? await readItemUsage(deps, caller, rows) : null;
      const usageOf = usage && usageByPart(usage);
      const shown = rows.map((row) => itemOf(step, withVisibleError(caller, row), usageOf));
      return { result: pageOf('items', page, { rows: shown, total }) };
    },
    limitLists,
  );
}

function singleRunRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  route(app, deps, contract.getWorkflowRun, async ({ params, query, caller, request, reply }) => {
    const id = fromId('workflowRun', params.workflowRunId);
    const hasUsage = query.include === 'usage';
    if (hasUsage) requirePermission(caller, 'read');
    const read = (caller: Caller) => readRun(deps, caller, params, query.omit === 'bodies');
    const reauthenticate = () => deps.authenticator.authenticate(request, contract.getWorkflowRun);
    const wait = { id, seconds: query.wait, caller, reauthenticate, read };
    const { waiters } = deps;
    const { waits } = deps.shares;
    const { row, viewer } = await waitFor({ waits, waiters }, wait, reply);
    return runResponse(viewer, row, hasUsage ? await readRunUsage(deps, viewer, row.id) : null);
  });

  route(
    app,
    deps,
    contract.rerunFailedItems,
    async ({ params, caller, request, reply }) => {
      const { run, rerun } = await deps.historyReads.read(caller, (db) =>
        readFailedItems(db, caller, params),
      );
      const hash = bearerHash(request);
      const started = await deps.workflowStarter.start({
        credential: hash === null ? { kind: 'session', caller } : { kind: 'key', hash },
        trigger: hash === null ? 'dashboard' : 'api',
        workflowId: run.workflowId,
        ...{ body: bodyOfRun(deps.compute, run), rerun },
        ...readIdempotency(request),
      });
      reply.headers(rateHeaders(started.states, started.nowMs));
      return startedResponse(started, request);
    },
    limitLists,
  );

  route(app, deps, contract.cancelWorkflowRun, async ({ params, caller }) => {
    const row = await requireRun(deps, caller, params);
    if (!(await deps.workflowCanceler.cancel(row.id))) {
      throw new CallFailure('ALREADY_ENDED', 'The workflow run has already ended.');
    }
    // A key without `read` sees no output of a run that it did not start.
    return runResponse(caller, await requireRun(deps, caller, params, !mayRead(caller, row)));
  });
}

/** What a run of the failed items of a step needs. */
async function readFailedItems(db: Db, caller: Caller, params: RunPath & { stepName: string }) {
  const run = await readRun({ db }, caller, params);
  requireFound(
    run.definition.steps.find(({ name }) => name === params.stepName),
    ...(['step', 'workflow run'] as const),
  );
  return { run, rerun: await readRerun(db, caller.workspaceId, run, params.stepName) };
}

export interface RunPath {
  readonly workflowId: string;
  readonly workflowRunId: string;
}

function executeRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  type Params = { Params: { workflowId: string } };
  app.post<Params>(routePath(contract.executeWorkflow), async (request, reply) => {
    const hash = bearerHash(request);
    if (!hash) throw unauthorized();
    deps.onKeyUsed(hash);
    if (request.headers.origin) {
      const caller = await deps.reads.caller(hash);
      allowOrigin(request, reply, caller?.allowedOrigins ?? []);
    }
    const body = await readExecuteBody(deps, request, hash, 'input');
    const credential = { kind: 'key', hash } as const;
    await startRun(deps, request, reply, { credential, trigger: 'api', body });
    return reply;
  });
  app.post<Params>(routePath(contract.executeWorkflowInDashboard), async (request, reply) => {
    const endpoint = contract.executeWorkflowInDashboard;
    const call = await readDashboardCall(deps, request, endpoint, 'input');
    await startRun(deps, request, reply, { ...call, trigger: 'dashboard' });
    return reply;
  });
}

async function startRun(
  deps: WorkflowDeps,
  request: FastifyRequest<{ Params: { workflowId: string } }>,
  reply: FastifyReply,
  input: Pick<StartCall, 'credential' | 'trigger' | 'body'>,
): Promise<void> {
  const call: StartCall = {
    ...input,
    workflowId: fromId('workflow', request.params.workflowId),
    ...readIdempotency(request),
  };
  const started = await deps.workflowStarter.start(call);
  reply.headers(rateHeaders(started.states, started.nowMs));
  send(reply, startedResponse(started, request));
}

/** The request that would start the run again. */
function bodyOfRun(
  compute: WorkflowDeps['compute'],
  { input, labels, maxCostUsd }: store.WorkflowRunDetailRow,
) {
  if (input === null) {
    const message =
      'The input of the workflow run is no longer stored. Run the whole workflow again.';
    throw new CallFailure('CONFLICT', message);
  }
  const hasLabels = labels !== null && labels !== '{}';
  const limit = maxCostUsd === null ? '' : `,"maxCostUSD":${maxCostUsd}`;
  const text = `{"input":${input}${limit}${hasLabels ? `,${labels.slice(1)}` : '}'}`;
  return executeBody(compute, text, 'input');
}

/** The response to the start of a workflow run, whatever its trigger. */
export function startedResponse(
  started: Started,
  { id, server }: Pick<FastifyRequest, 'id' | 'server'>,
): HandlerResponse {
  if (started.kind === 'refused') return errorResponse(started, id);
  const workflowId = toId('workflow', started.workflowId);
  const workflowRunId = toId('workflowRun', started.runId);
  const location = `/api/v1/workflows/${workflowId}/runs/${workflowRunId}`;
  const statusUrl = server.basePath + location;
  const { ignoredInput, replayed, currentStatus } = started;
  return {
    status: 202,
    body: {
      ...{ workflowRunId, workflowId, status: 'processing' },
      ...(replayed && { currentStatus }),
      ...{ statusUrl, ignoredInput, stepsCounted: false },
    },
    headers: { location, ...(replayed && { 'idempotent-replayed': 'true' }) },
  };
}

function runResponse(
  viewer: Caller,
  row: store.WorkflowRunDetailRow,
  usage: readonly UsageRow[] | null = null,
) {
  return {
    result: visibleRun(viewer, row, usage),
    ...(row.status === 'processing' && { headers: { 'retry-after': '1' } }),
  };
}

/** The usage of a run, its steps and its first items. Reads up to a thousand records for each step. */
function readRunUsage({ historyReads }: WorkflowDeps, caller: Caller, runId: string) {
  return historyReads.read(caller, async (db) =>
    sumUsage(db, await listExecutionsOfSteps(db, [runId]), runItemsMax),
  );
}

/** A run can have thousands of executions. */
function checkUsage(caller: Caller, { limit }: { readonly limit: number }): void {
  requirePermission(caller, 'read');
  if (limit <= runsWithUsageMax) return;
  throw invalidRequest(
    `Parameter "limit" must be at most ${runsWithUsageMax} with "include=usage".`,
  );
}

async function withUsage(
  { historyReads }: WorkflowDeps,
  caller: Caller,
  rows: readonly WorkflowRunSummaryRow[],
) {
  const ids = rows.map(({ id }) => id);
  const usageOf = usageByPart(await historyReads.read(caller, (db) => sumUsageOfRuns(db, ids)));
  return rows.map((row) => ({ ...runOf(row), usage: usageOf(row.id, null) }));
}

function readItemUsage(
  { historyReads }: WorkflowDeps,
  caller: Caller,
  rows: readonly WorkflowStepRow[],
) {
  const executions = rows.flatMap(({ step, item, executionId, failedExecutionId }) =>
    [executionId, failedExecutionId].flatMap((id) =>
      id === null ? [] : { step, item, executionId: id },
    ),
  );
  const beyond = Math.max(0, ...rows.map(({ item }) => item + 1));
  return historyReads.read(caller, (db) => sumUsage(db, executions, beyond));
}

/** The stored ids of a workflow and its run. */
function idsOf({ workflowId, workflowRunId }: RunPath) {
  return {
    workflowId: storedId('workflow', workflowId),
    id: storedId('workflowRun', workflowRunId),
  };
}

async function requireRun(
  { db }: Pick<WorkflowDeps, 'db'>,
  caller: Caller,
  path: RunPath,
  omitsBodies = false,
) {
  const request = { ...idsOf(path), itemsShown: runItemsMax, omitsBodies };
  return requireFound(await store.findRunDetail(db, caller, request), 'workflow run');
}

/** The workflow run, if the caller may read it. */
export async function readRun(
  deps: Pick<WorkflowDeps, 'db'>,
  caller: Caller,
  path: RunPath,
  omitsBodies = false,
): Promise<store.WorkflowRunDetailRow> {
  return requireReadable(caller, await requireRun(deps, caller, path, omitsBodies));
}

/** For a key without `read`, workflow runs that it did not start do not exist. */
function requireReadable<Row extends { readonly apiKeyId: string | null }>(
  caller: Caller,
  row: Row | null,
): Row {
  if (row && mayRead(caller, row)) return row;
  throw notFound('workflow run');
}
