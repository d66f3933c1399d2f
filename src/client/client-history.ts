import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';
import type { Output, QueryOf } from './routes.ts';
import type { Execution } from './wire.ts';

/** Reads the history of one agent or, with `null`, of all agents that the caller can see. */

/** Filters by variable value and metadata: `{ 'variables.customer': 'acme', 'metadata.plan': 'pro' }`. */
interface NamedFilters {
  readonly [name: `variables.${string}` | `metadata.${string}`]: string;
}

/** `agentId` only for the executions of all agents. */
export type ExecutionFilters = QueryOf<'listAllExecutions'> & NamedFilters;
export type ExecutionPage = Output<'listExecutions'>;
export type SessionList = Output<'listSessions'>;
export type ExportFilters = QueryOf<'exportAllExecutions'> & NamedFilters;

const pageMax = 100;

export function history({ method, open, plain }: Connection) {
  /** One page, newest first or by `sort`. */
  function list(
    agentId: string | null,
    query: ExecutionFilters = {},
    options: CallOptions = {},
  ): Promise<ExecutionPage> {
    if (agentId === null) return method('listAllExecutions')(query, options);
    return method('listExecutions')(agentId, query, options);
  }

  /** Every matching record. Fetches the pages on demand. */
  async function* listAll(
    agentId: string | null,
    filters: ExecutionFilters = {},
    options: CallOptions = {},
  ): AsyncGenerator<Execution, void, undefined> {
    let at: ExecutionFilters = { limit: pageMax, ...filters };
    for (;;) {
      const { executions, pagination, nextCursor } = await list(agentId, at, options);
      yield* executions;
      // A page that took too long to fill may be empty, with a cursor.
      if (!pagination.hasMore || (executions.length === 0 && !nextCursor)) return;
      const { cursor: _, totals: __, offset = 0, ...rest } = at;
      at = nextCursor
        ? { ...rest, cursor: nextCursor }
        : { ...rest, offset: offset + executions.length };
    }
  }

  /**
   * Streams every matching record as JSON lines or CSV. After an interruption, continue with the
   * `executionId` of the last complete record as `cursor`.
   */
  function openExport(
    agentId: string | null,
    query: ExportFilters = {},
    options: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    if (agentId === null) return open('GET /api/v1/executions/export', { query }, options);
    const route = 'GET /api/v1/agents/{agentId}/executions/export';
    return open(route, { params: { agentId }, query }, options);
  }

  return {
    list,
    listAll,
    openExport,
    /** One page of conversations, those with the newest records first. */
    listSessions: plain('listSessions'),
  };
}
