import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { exportAllExecutions, exportExecutions } from '../../../contract/executions/export.ts';
import { exportsMax, exportsOfWorkspaceMax, streamMsMax } from '../../../contract/limits.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import { exportExecutions as exportHistory } from '../../../flow/history/export-executions.ts';
import { listVisibleAgents } from '../../../store/agent/agents.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { limitLists } from '../../http/list-limit.ts';
import { route } from '../../http/route.ts';
import { emptyStream, streamOf } from '../../http/stream.ts';
import { createStreamSlots } from '../../http/stream-slots.ts';
import { type ExportForm, exportForms } from './export-wire.ts';
import { type HistoryQuery, readCursor, readHistory } from './history-query.ts';

/** The history as one long answer, which is written no faster than it is taken. */
export function exportRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const limited = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);
  const slots = createStreamSlots('export', {
    max: exportsMax,
    ofWorkspaceMax: exportsOfWorkspaceMax,
  });

  route(
    app,
    parts,
    exportExecutions,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(parts.reads, caller, params.agentId);
      allowAgentOrigins({ request, reply, caller }, agent);
      const name = `executions-${params.agentId}`;
      return answer({ agentIds: [agent.id], query, name, caller, request });
    },
    limited,
  );

  route(
    app,
    parts,
    exportAllExecutions,
    async ({ query, caller, request }) => {
      const agentIds = await listVisibleAgents(parts.db, caller);
      return answer({ agentIds, query, name: 'executions', caller, request });
    },
    limited,
  );

  async function answer({ agentIds, query, name, caller, request }: Asked) {
    const { format = 'jsonl' } = query;
    const form = exportForms[format];
    const after = readCursor(query);
    const question = { ...readHistory(query, agentIds), includeProcessing: false, after };
    const headers = {
      'content-type': form.mediaType,
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    };
    if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
    const slot = slots.acquire(caller.workspaceId);
    const batches = exportHistory(parts.exportDb, { ...question, msMax: streamMsMax });
    try {
      // What goes wrong at the beginning still has a status of its own.
      const first = await batches.next();
      slot.signal.throwIfAborted();
      const texts = textsOf(form, after === null, first, batches);
      const stream = streamOf(texts, request, slot);
      stream.once('close', () => {
        // A stream that was broken off before anybody read of it has not begun what it is made of.
        batches.return().catch((error: unknown) => request.log.warn({ err: error }, 'export end'));
      });
      return { status: 200, body: stream, headers };
    } catch (error) {
      slot.release();
      await batches.return();
      throw error;
    }
  }
}

interface Asked {
  readonly agentIds: readonly string[];
  readonly query: HistoryQuery & {
    readonly format?: 'jsonl' | 'csv';
    readonly cursor?: string;
  };
  readonly name: string;
  readonly caller: Caller;
  readonly request: FastifyRequest;
}

/** Where an export goes on, the head stands in what came before. */
async function* textsOf(
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
