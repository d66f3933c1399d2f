import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../../contract/endpoint.ts';
import { exportAllExecutions, exportExecutions } from '../../../contract/executions/export.ts';
import { exportsMax, exportsOfWorkspaceMax, streamMsMax } from '../../../contract/limits.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import {
  exportExecutions as exportHistory,
  withoutRemoved,
} from '../../../flow/history/export-executions.ts';
import { listVisibleAgents } from '../../../store/agent/agents.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { reauthorized } from '../../access/reauthorize.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { limitLists } from '../../http/list-limit.ts';
import { route } from '../../http/route.ts';
import { emptyStream, streamOf } from '../../http/stream.ts';
import { createStreamSlots } from '../../http/stream-slots.ts';
import { type ExportForm, exportForms } from './export-wire.ts';
import { type HistoryQuery, readCursor, readHistory } from './history-query.ts';

/** Exports the history as one stream, which is generated no faster than the client reads it. */
export function exportRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const countCall = (caller: Caller, reply: FastifyReply) => limitLists(deps, caller, reply);
  const slots = createStreamSlots('export', {
    max: exportsMax,
    ofWorkspaceMax: exportsOfWorkspaceMax,
  });

  route(
    app,
    deps,
    exportExecutions,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(deps.reads, caller, params.agentId);
      allowAgentOrigins({ request, reply, caller }, agent);
      const name = `executions-${params.agentId}`;
      const endpoint = exportExecutions;
      return exportResponse({ endpoint, agentIds: [agent.id], query, name, caller, request });
    },
    countCall,
  );

  route(
    app,
    deps,
    exportAllExecutions,
    async ({ query, caller, request }) => {
      const agentIds = await listVisibleAgents(deps.db, caller);
      const [endpoint, name] = [exportAllExecutions, 'executions'];
      return exportResponse({ endpoint, agentIds, query, name, caller, request });
    },
    countCall,
  );

  async function exportResponse(input: ExportInput) {
    const { endpoint, agentIds, query, name, caller, request } = input;
    const { format = 'jsonl' } = query;
    const form = exportForms[format];
    const after = readCursor(query);
    const filter = { ...readHistory(query, agentIds), includeProcessing: false, after };
    const headers = {
      'content-type': form.mediaType,
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    };
    if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
    const { workspaceId } = caller;
    const msMax = streamMsMax;
    const slot = slots.acquire(workspaceId);
    const history = exportHistory(deps.exportDb, { ...filter, msMax });
    const existing = withoutRemoved(deps.db, { workspaceId, msMax }, history);
    const batches = reauthorized({ ...deps, request, endpoint }, existing);
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
  readonly endpoint: Endpoint;
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
  first: IteratorResult<readonly ExecutionDetailRow[], void>,
  rest: AsyncGenerator<readonly ExecutionDetailRow[], void, undefined>,
): AsyncGenerator<string, void, undefined> {
  if (fromStart) yield form.head;
  if (first.done) return;
  yield first.value.map(form.line).join('');
  for await (const rows of rest) yield rows.map(form.line).join('');
}
