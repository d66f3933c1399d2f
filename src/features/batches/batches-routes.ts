import type { FastifyInstance } from 'fastify';
import type { LineStatus } from '../../core/batch/batch.ts';
import { requireFound } from '../../core/failure.ts';
import { storedId } from '../../core/id.ts';
import { actorOf } from '../../core/people/audit.ts';
import type { Caller } from '../../core/people/caller.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { takeResponseSlot } from '../../http/limits/response-slots.ts';
import { pageOf, readPage } from '../../http/request/page-query.ts';
import { toJson } from '../../http/response/json-response.ts';
import { emptyStream, streamOf } from '../../http/response/stream-response.ts';
import { toWire } from '../../http/response/to-wire.ts';
import { type Context, route } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { limitLists } from '../people/access/count-calls.ts';
import { visibleAgent, visibleError } from '../people/access/visible-resources.ts';
import * as contract from './batches-contract.ts';
import {
  type BatchRow,
  findBatch,
  listBatches,
  type ResultRow,
  readResults,
} from './statements/batches.ts';

/** Lists, reads and cancels batches, and streams their results. */
export function batchRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, reads } = deps;

  route(
    app,
    deps,
    contract.listBatches,
    async (context) => {
      const { params, query, caller } = context;
      const page = readPage(query);
      const { id: agentId } = await visibleAgent(reads, caller, params.agentId);
      const { rows, total } = await deps.historyReads.read(caller, (historyDb) =>
        listBatches(historyDb, { agentId, apiKeyId: ownOnly(caller) }, page),
      );
      const shown = rows.map((row) => batchOf(caller, row));
      return { result: pageOf('batches', page, { rows: shown, total }) };
    },
    limitLists,
  );

  route(app, deps, contract.getBatch, async (context) => {
    const { caller } = context;
    const row = await requireBatch(deps, context);
    return {
      result: batchOf(caller, row),
      ...(row.completedAt === null && { headers: { 'retry-after': '1' } }),
    };
  });

  route(
    app,
    deps,
    contract.getBatchResults,
    async (context) => {
      const { params, query, caller, request } = context;
      const { id } = await requireBatch(deps, context);
      const headers = {
        'content-type': 'application/jsonl; charset=utf-8',
        'content-disposition': `attachment; filename="results-${params.batchId}.jsonl"`,
        'cache-control': 'no-store',
      };
      if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
      const slot = takeResponseSlot(deps.shares.results, caller.workspaceId);
      const authorize = async () => {
        const caller = await deps.authenticator.authenticate(request, contract.getBatchResults);
        await requireBatch(deps, { ...context, caller });
        return caller;
      };
      const statuses = query.status === undefined ? null : [query.status].flat();
      const texts = resultTexts(db, { id, statuses }, authorize);
      const stream = streamOf(texts, request, slot, { kind: 'results', bytes: deps.streams.bytes });
      return { status: 200, body: stream, headers };
    },
    limitLists,
  );

  route(app, deps, contract.cancelBatch, async (context) => {
    const { id } = await requireBatch(deps, context, null);
    await deps.cancelBatch(id, actorOf(context.caller));
    const row = await requireBatch(deps, context, null);
    return { result: batchOf(context.caller, row) };
  });
}

/** A key without `read` does not see the user. */
function batchOf({ rights }: Caller, row: BatchRow) {
  return { ...row, counts: row, executedBy: rights.includes('read') ? row.executedBy : null };
}

/** The result of a line, as far as the caller may see it. */
function resultOf(caller: Caller, row: ResultRow) {
  return toWire(contract.BatchResult, { ...row, error: visibleError(caller, row.error) });
}

/** The key that a caller without `read` is limited to. */
function ownOnly({ rights, id }: Caller): string | null {
  return rights.includes('read') ? null : id;
}

export type BatchContext = Pick<
  Context<typeof contract.getBatch>,
  'caller' | 'request' | 'reply'
> & {
  readonly params: { readonly agentId: string; readonly batchId: string };
};

/** The batch, if the caller may read it. */
export async function requireBatch(
  { db, reads }: ApiDeps,
  context: BatchContext,
  /** Null for the batches of all callers. */
  apiKeyId: string | null = ownOnly(context.caller),
): Promise<BatchRow> {
  const { params, caller } = context;
  const agent = await visibleAgent(reads, caller, params.agentId);
  allowAgentOrigins(context, agent);
  const filter = { agentId: agent.id, apiKeyId };
  const row = await findBatch(db, filter, storedId('batch', params.batchId));
  return requireFound(row, 'batch', 'agent');
}

/** The caller is authorized again before each page: a slow client may read for long. */
async function* resultTexts(
  db: ApiDeps['db'],
  { id, statuses }: { readonly id: string; readonly statuses: readonly LineStatus[] | null },
  authorize: () => Promise<Caller>,
): AsyncGenerator<string, void, undefined> {
  for (let after = 0; ; ) {
    const caller = await authorize();
    const rows = await readResults(db, id, { after, statuses });
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map((row) => `${toJson(resultOf(caller, row))}\n`).join('');
    after = last.line;
  }
}
