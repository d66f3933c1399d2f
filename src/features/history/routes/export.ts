import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Execution } from '../../../core/execution/execution-fields.ts';
import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import { streamMsMax } from '../../../http/contract/contract-limits.ts';
import type { Endpoint } from '../../../http/contract/operation.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { takeResponseSlot } from '../../../http/limits/response-slots.ts';
import { historySource } from '../../../http/response/history-source.ts';
import { emptyStream, streamOf } from '../../../http/response/stream-response.ts';
import { route } from '../../../http/route.ts';
import { listVisibleAgents } from '../../agents/statements/agents.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { reauthorized } from '../../people/access/reauthorize.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { exportAllExecutions, exportExecutions } from '../contract/export-contract.ts';
import {
  type ExportRequest,
  exportExecutions as exportHistory,
  withoutDeleted,
} from '../verbs/export-executions.ts';
import { exportName } from './export-name.ts';
import { type ExportForm, exportForms } from './export-wire.ts';
import { type HistoryQuery, readHistory, readStart } from './history-query.ts';

/** Exports the history as one stream, which is generated no faster than the client reads it. */
export function exportRoutes(app: FastifyInstance, deps: ApiDeps): void {
  route(
    app,
    deps,
    exportExecutions,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(deps.reads, caller, params.agentId);
      allowAgentOrigins({ request, reply, caller }, agent);
      const [endpoint, subject] = [exportExecutions, params.agentId];
      const scope = { endpoint, agentIds: [agent.id], name: `executions-${subject}`, subject };
      return exportResponse({ ...scope, query, caller, request, reply });
    },
    limitLists,
  );

  route(
    app,
    deps,
    exportAllExecutions,
    async ({ query, caller, request, reply }) => {
      const agentIds = await deps.historyReads.read(caller, (db) => listVisibleAgents(db, caller));
      const subject = toId('workspace', caller.workspaceId);
      const scope = { endpoint: exportAllExecutions, agentIds, name: 'executions', subject };
      return exportResponse({ ...scope, query, caller, request, reply });
    },
    limitLists,
  );

  async function exportResponse(input: ExportInput) {
    const { agentIds, query, name, caller, request } = input;
    const { format = 'jsonl', bom = false } = query;
    if (bom && format !== 'csv') throw bomWithoutCsv();
    const form = exportForms[bom ? 'spreadsheet' : format];
    const after = readStart(query).after;
    const filter = { ...readHistory(query, agentIds), after };
    const headers = {
      'content-type': form.mediaType,
      'content-disposition': `attachment; filename="${exportName(name, query, new Date())}.${format}"`,
      'cache-control': 'no-store',
    };
    if (request.method === 'HEAD') return { status: 200, body: emptyStream(), headers };
    const slot = takeResponseSlot(deps.shares.exports, caller.workspaceId);
    let opened: OpenedExport | null = null;
    try {
      opened = await openExport(deps, input, filter);
      const { first, batches } = opened;
      slot.signal.throwIfAborted();
      // A continuation without records exports nothing.
      if (after === null || !first.done) await auditExport(deps.db, input);
      const texts = exportTexts(form, after === null, first, batches);
      const stream = streamOf(texts, request, slot, { kind: 'export', bytes: deps.streams.bytes });
      stream.once('close', () => {
        // A stream that is aborted before its first read does not end its source.
        batches
          .return()
          .catch((error: unknown) => request.log.warn({ err: error }, 'export cleanup failed'));
      });
      return { status: 200, body: stream, headers };
    } catch (error) {
      slot.release();
      await opened?.batches.return();
      throw error;
    }
  }
}

interface ExportInput {
  readonly endpoint: Endpoint;
  readonly agentIds: readonly string[];
  readonly query: HistoryQuery & {
    readonly format?: 'jsonl' | 'csv';
    readonly bom?: boolean;
    readonly cursor?: string;
    readonly workspace?: string;
  };
  readonly name: string;
  /** Wire id of what is exported. */
  readonly subject: string;
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type ExportFilter = Omit<ExportRequest, 'msMax' | 'check'>;

interface OpenedExport {
  readonly first: IteratorResult<readonly Execution[], void>;
  readonly batches: AsyncGenerator<readonly Execution[], void, undefined>;
}

/** Reads the first batch, so that its error still gets its own status: from a standby if it may serve the caller. */
async function openExport(
  deps: ApiDeps,
  input: ExportInput,
  filter: ExportFilter,
): Promise<OpenedExport> {
  const { request, reply, query } = input;
  const { standbyExports } = deps;
  if (!standbyExports) return openExportOn(deps, deps.exportDb, input, filter);
  const { db, reads } = standbyExports;
  const { fresh, writer, onRead } = historySource(request, reply, {
    fresh: query.include === 'processing',
  });
  if (!fresh && writer && (await reads.mayServe(writer))) {
    const found = await reads.read((check) => openExportOn(deps, db, input, { ...filter, check }));
    if (found) {
      onRead?.(found.asOf);
      return found.value;
    }
  }
  const asOf = reads.primaryTime();
  const opened = await openExportOn(deps, deps.exportDb, input, filter);
  if (asOf) onRead?.(asOf);
  return opened;
}

async function openExportOn(
  deps: ApiDeps,
  db: Db,
  { endpoint, caller: { workspaceId }, request }: ExportInput,
  filter: ExportFilter & Pick<ExportRequest, 'check'>,
): Promise<OpenedExport> {
  const msMax = streamMsMax;
  const history = exportHistory(db, { ...filter, msMax });
  // What was removed meanwhile is known to the primary.
  const existing = withoutDeleted(deps.db, { workspaceId, msMax }, history);
  const batches = reauthorized({ ...deps, request, endpoint }, existing);
  try {
    return { first: await batches.next(), batches };
  } catch (error) {
    await batches.return();
    throw error;
  }
}

/** Names the filters, but not their values: they may be what a later erasure removes. */
function auditExport(db: Db, { query, subject, caller }: ExportInput): Promise<void> {
  const { format = 'jsonl', cursor, bom: _bom, workspace: _workspace, ...filters } = query;
  const details = {
    format,
    filters: Object.keys(filters),
    ...(cursor !== undefined && { continued: true }),
  };
  return writeAudit(db, actorOf(caller), { action: 'execution.export', subject, details });
}

function bomWithoutCsv(): CallFailure {
  const message = 'Parameter "bom" requires format=csv: JSON starts without a byte order mark.';
  return new CallFailure('INVALID_REQUEST', message);
}

/** An export that continues after a cursor has no header. */
async function* exportTexts(
  form: ExportForm,
  fromStart: boolean,
  first: IteratorResult<readonly Execution[], void>,
  rest: AsyncGenerator<readonly Execution[], void, undefined>,
): AsyncGenerator<string, void, undefined> {
  if (fromStart) yield form.head;
  if (first.done) return;
  yield first.value.map(form.line).join('');
  for await (const rows of rest) yield rows.map(form.line).join('');
}
