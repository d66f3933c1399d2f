import type { FastifyInstance, FastifyRequest } from 'fastify';
import { exportAllExecutions, exportExecutions } from '../../../contract/executions/export.ts';
import {
  exportsMax,
  exportsOfCallerMax,
  exportsOfWorkspaceMax,
  streamMsMax,
} from '../../../contract/limits.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { exportExecutions as exportHistory } from '../../../flow/history/export-executions.ts';
import { listVisibleAgents } from '../../../store/agent/agents.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { limitLists } from '../../http/minute-limit.ts';
import { route } from '../../http/route.ts';
import { emptyStream, streamOf } from '../../http/stream.ts';
import { createStreamSlots } from '../../http/stream-slots.ts';
import { type ExportForm, exportForms } from './export-wire.ts';
import { type HistoryQuery, readHistory, readStart } from './history-query.ts';

/** Exports the history as one stream, which is generated no faster than the client reads it. */
export function exportRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const slots = createStreamSlots('export', {
    max: exportsMax,
    ofWorkspaceMax: exportsOfWorkspaceMax,
    ofCallerMax: exportsOfCallerMax,
  });

  route(
    app,
    deps,
    exportExecutions,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(deps.reads, caller, params.agentId);
      allowAgentOrigins({ request, reply, caller }, agent);
      const name = `executions-${params.agentId}`;
      return exportResponse({ agentIds: [agent.id], query, name, caller, request });
    },
    limitLists,
  );

  route(
    app,
    deps,
    exportAllExecutions,
    async ({ query, caller, request }) => {
      const agentIds = await deps.historyReads.read(caller, (db) => listVisibleAgents(db, caller));
      return exportResponse({ agentIds, query, name: 'executions', caller, request });
    },
    limitLists,
  );

  async function exportResponse(input: ExportInput) {
    const { agentIds, query, name, caller, request } = input;
    const { format = 'jsonl' } = query;
    const form = exportForms[format];
    const after = readStart(query).after;
    const filter = { ...readHistory(query, agentIds), includeProcessing: false, after };
    const headers = {
      'content-type': form.mediaType,
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    };
    if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
    const slot = slots.acquire(caller);
    const batches = exportHistory(deps.exportDb, { ...filter, msMax: streamMsMax });
    try {
      // An error in the first batch still gets its own status.
      const first = await batches.next();
      slot.signal.throwIfAborted();
      const texts = exportTexts(form, after === null, first, batches);
      const stream = streamOf(texts, request, slot);
      stream.once('close', () => {
        // A stream that is aborted before its first read does not end its source.
        batches
          .return()
          .catch((error: unknown) => request.log.warn({ err: error }, 'export cleanup failed'));
      });
      return { status: 200, body: stream, headers };
    } catch (error) {
      slot.release();
      await batches.return();
      throw error;
    }
  }
}

interface ExportInput {
  readonly agentIds: readonly string[];
  readonly query: HistoryQuery & {
    readonly format?: 'jsonl' | 'csv';
    readonly cursor?: string;
  };
  readonly name: string;
  readonly caller: Caller;
  readonly request: FastifyRequest;
}

/** An export that continues after a cursor has no header. */
async function* exportTexts(
  form: ExportForm,
  fromStart: boolean,
  first: IteratorResult<ExecutionDetailRow[], void>,
  rest: AsyncGenerator<ExecutionDetailRow[], void, undefined>,
): AsyncGenerator<string, void, undefined> {
  if (fromStart) yield form.head;
  if (first.done) return;
  yield first.value.map(form.line).join('');
  for await (const rows of rest) yield rows.map(form.line).join('');
}
