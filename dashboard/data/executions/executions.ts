import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Cueline,
  ExecutionFilters,
  ExecutionPage,
  Labels,
  Variables,
} from '../../../src/client/index.ts';
import { serverPath } from '../client/base-path.ts';
import { cueline, currentWorkspaceId } from '../client/client.ts';
import { useDelete } from '../client/use-delete.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { execute } from './start-execution.ts';

export type Execution = ExecutionPage['executions'][number];
export type ExecutionDetail = Awaited<ReturnType<Cueline['status']>>;

/** Poll intervals of a list with and without executions in progress. */
const [activePollMs, idlePollMs] = [3_000, 20_000];
const recordPollMs = 1_500;

/** Executions of one agent or of all. `live` polls the list while it is visible. */
export const historyQuery = (
  agentId: string | undefined,
  filters: ExecutionFilters,
  live: boolean,
) =>
  queryOptions({
    queryKey: ['executions', 'list', agentId ?? null, filters],
    queryFn: async ({ signal }): Promise<ExecutionPage> =>
      agentId === undefined
        ? (await cueline.request('GET /api/v1/executions', { query: filters }, { signal })).body
        : cueline.list(agentId, filters, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      // Keep polling after an error, so that the list recovers when the server does.
      if (!live || (state.error && !state.data)) return false;
      return !state.error && state.data?.executions.some(isInProgress) ? activePollMs : idlePollMs;
    },
  });

export const executionQuery = (agentId: string, executionId: string) =>
  queryOptions({
    queryKey: ['executions', 'record', agentId, executionId],
    queryFn: ({ signal }) => cueline.status(agentId, executionId, { signal }),
    refetchInterval: ({ state }) => (state.data && isInProgress(state.data) ? recordPollMs : false),
  });

export const isInProgress = ({ status }: Pick<Execution, 'status'>) => status === 'processing';

export type ExportFormat = 'jsonl' | 'csv';

/** The URL of the export file with all matching executions. */
export function exportHref(
  agentId: string | undefined,
  filters: ExecutionFilters,
  format: ExportFormat,
): string {
  const path =
    agentId === undefined
      ? '/api/v1/executions/export'
      : `/api/v1/agents/${encodeURIComponent(agentId)}/executions/export`;
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  query.set('format', format);
  // The page offers CSV for spreadsheets only.
  if (format === 'csv') query.set('bom', 'true');
  // A link cannot send the workspace header.
  if (currentWorkspaceId !== null) query.set('workspace', currentWorkspaceId);
  return serverPath(`${path}?${query}`);
}

/** Throws the error that the export would return, which a browser download would not show. Requests an empty page. */
export async function checkExport(
  agentId: string | undefined,
  filters: ExecutionFilters,
): Promise<void> {
  const nothing = { ...filters, cursor: beforeAll };
  await new Response(await cueline.openExport(agentId ?? null, nothing)).text();
}

/** A cursor before the oldest execution. */
const beforeAll = `exe_${'0'.repeat(26)}`;

export function useCancelExecution(agentId: string, executionId: string) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: () => cueline.cancel(agentId, executionId),
    // Also after an error: the execution may have ended meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['executions'] }),
  });
}

export function useDeleteExecution(
  agentId: string,
  executionId: string,
  navigateAway: () => Promise<void>,
) {
  return useDelete({
    deleteFn: () =>
      cueline.request('DELETE /api/v1/agents/{agentId}/executions/{executionId}', {
        params: { agentId, executionId },
      }),
    listKey: ['executions', 'list'],
    navigateAway,
    obsoleteKeys: [executionQuery(agentId, executionId).queryKey],
  });
}

export function useRunAgain(agentId: string) {
  const queries = useQueryClient();
  return useSingleFlight(
    {
      mutationFn: ({ variables, labels }: { variables: Variables; labels: Labels }) =>
        execute(agentId, variables, labels),
      onSuccess: () => queries.invalidateQueries({ queryKey: ['executions', 'list'] }),
    },
    { leadsAway: true },
  );
}
