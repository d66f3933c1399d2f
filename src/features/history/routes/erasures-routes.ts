import type { FastifyInstance } from 'fastify';
import { CallFailure, invalidRequest, notFound } from '../../../core/failure.ts';
import type { ErasedValue } from '../../../core/history/erased-value.ts';
import { fromId, toId } from '../../../core/id.ts';
import { actorOf } from '../../../core/people/audit.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { pageResponse, readPage } from '../../../http/request/page-query.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import { visibleExecution } from '../../people/access/visible-resources.ts';
import {
  createErasure,
  deleteExecution,
  type Erasure,
  getErasure,
  listErasures,
  previewErasure,
} from '../contract/erasures-contract.ts';
import * as store from '../statements/erasures.ts';
import * as flow from '../verbs/delete-execution.ts';
import { type ErasureInput as ErasureRequest, requestErasure } from '../verbs/erase.ts';
import { previewErasure as countErasable } from '../verbs/preview-erasure.ts';

/** Deletes one record, or erases all records of an end user. */
export function erasureRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, reads, singlePipelines, historyReads } = deps;

  route(app, deps, deleteExecution, async (context) => {
    const { params, caller } = context;
    const execution = await visibleExecution(reads, caller, params, (agent) =>
      allowAgentOrigins(context, agent),
    );
    if (execution.status === 'processing') {
      const message = 'The execution has not ended. Cancel it before you delete its record.';
      throw new CallFailure('CONFLICT', message);
    }
    await flow.deleteExecution(singlePipelines, actorOf(caller), execution);
    return { status: 204, body: null };
  });

  route(app, deps, createErasure, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const row = await requestErasure(db, caller, inputOf(body));
    const erasure = erasureWire(row);
    const location = `/api/v1/erasures/${erasure.erasureId}`;
    return { status: 202, body: erasure, headers: { location } };
  });

  route(
    app,
    deps,
    previewErasure,
    async ({ body, caller }) => {
      requireWholeWorkspace(caller);
      const input = inputOf(body);
      const result = await historyReads.read(
        caller,
        (readDb) => countErasable(readDb, caller, input),
        { isSearch: true },
      );
      return { result };
    },
    limitLists,
  );

  route(app, deps, listErasures, async ({ query, caller }) => {
    requireWholeWorkspace(caller);
    const page = readPage(query);
    const { rows, total } = await store.listErasures(db, caller.workspaceId, page);
    return pageResponse('erasures', rows.map(erasureWire), { ...page, total });
  });

  route(app, deps, getErasure, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    const id = fromId('erasure', params.erasureId);
    const row = id === null ? null : await store.findErasure(db, caller.workspaceId, id);
    if (!row) throw notFound('erasure');
    return { status: 200, body: erasureWire(row) };
  });
}

function inputOf(body: ErasureInput & { readonly agentId?: string | null }): ErasureRequest {
  const agentId = body.agentId == null ? null : (fromId('agent', body.agentId) ?? undefined);
  return { ...whatToErase(body), agentId };
}

/** A user, a tag, a value of the metadata, or a variable with its value. */
function whatToErase({ user, tag, metadata, variable, value }: ErasureInput): ErasedValue {
  // The contract allows one.
  const [pair] = Object.entries(metadata ?? {});
  const none = { variable: null, label: null, labelName: null };
  const given: ErasedValue[] = [
    ...(user === undefined ? [] : [{ ...none, value: user }]),
    ...(tag === undefined ? [] : [{ ...none, label: 'tag' as const, value: tag }]),
    ...(pair ? [{ ...none, label: 'metadata' as const, labelName: pair[0], value: pair[1] }] : []),
    ...(variable === undefined || value === undefined ? [] : [{ ...none, variable, value }]),
  ];
  const isComplete = (variable === undefined) === (value === undefined);
  const [erased] = given;
  if (erased && given.length === 1 && isComplete) return erased;
  throw invalidRequest(
    'The body must have exactly one of "user", "tag", "metadata", or "variable" with "value".',
  );
}

interface ErasureInput {
  readonly user?: string;
  readonly tag?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly variable?: string;
  readonly value?: string;
}

function erasureWire(row: store.ErasureRow): Erasure {
  return {
    erasureId: toId('erasure', row.id),
    status: row.completedAt === null ? 'processing' : 'completed',
    agentId: row.agentId === null ? null : toId('agent', row.agentId),
    by: row.variable === null ? (row.label ?? 'user') : 'variable',
    variable: row.variable,
    metadata: row.labelName,
    schedules: row.schedules.map((one) => toId('schedule', one)),
    deleted: row.deleted,
    waiting: row.waiting,
    requestedAt: row.requestedAt.toISOString(),
    requestedBy: row.requestedBy === null ? null : toId('user', row.requestedBy),
    completedAt: row.completedAt?.toISOString() ?? null,
  };
}
