import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { exportAllExecutions, exportExecutions } from '../../contract/export.ts';
import { exportMsMax, exportsMax } from '../../contract/limits.ts';
import type { Caller } from '../../core/admission.ts';
import { CallFailure } from '../../core/failure.ts';
import { exportExecutions as exportHistory } from '../../flow/export-executions.ts';
import { listVisibleAgents } from '../../store/agents.ts';
import type { ExecutionDetailRow } from '../../store/executions.ts';
import { visibleAgent } from '../access.ts';
import { allowOrigin } from '../cors.ts';
import { type ExportForm, exportForms } from '../export-wire.ts';
import { type HistoryQuery, readCursor, readHistory } from '../history-query.ts';
import { limitLists } from '../list-limit.ts';
import type { ApiParts } from '../parts.ts';
import { route } from '../route.ts';

/** The history as one long answer, which is written no faster than it is taken. */
export function exportRoutes(app: FastifyInstance, parts: ApiParts): void {
  const limited = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);
  let open = 0;

  route(
    app,
    parts,
    exportExecutions,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(parts.db, caller, params.agentId);
      allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
      return answer([agent.id], query, `executions-${params.agentId}`);
    },
    limited,
  );

  route(
    app,
    parts,
    exportAllExecutions,
    async ({ query, caller }) =>
      answer(await listVisibleAgents(parts.db, caller), query, 'executions'),
    limited,
  );

  async function answer(
    agentIds: readonly string[],
    query: HistoryQuery & { format?: 'jsonl' | 'csv'; cursor?: string },
    name: string,
  ) {
    const { format = 'jsonl' } = query;
    const form = exportForms[format];
    const after = readCursor(query);
    const question = { ...readHistory(query, agentIds), includeProcessing: false, after };
    if (open >= exportsMax) {
      throw new CallFailure('UNAVAILABLE', `${exportsMax} exports are under way already.`, {
        retryAfter: 10,
      });
    }
    open++;
    const batches = exportHistory(parts.exportDb, { ...question, msMax: exportMsMax });
    try {
      // What goes wrong at the beginning still has a status of its own.
      const first = await batches.next();
      const texts = textsOf(form, after === null, first, batches);
      const stream = Readable.from(texts, { objectMode: false, highWaterMark: 1 });
      stream.once('close', () => {
        open--;
        // A stream that was broken off before anybody read of it has not begun what it is made of.
        void batches.return();
      });
      return {
        status: 200,
        body: stream,
        headers: {
          'content-type': form.mediaType,
          'content-disposition': `attachment; filename="${name}.${format}"`,
          'cache-control': 'no-store',
        },
      };
    } catch (error) {
      open--;
      throw error;
    }
  }
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
