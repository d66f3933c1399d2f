import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Cueline,
  ExecutionFilters,
  ExecutionPage,
  Labels,
  Variables,
} from '../../../src/client/index.ts';
import { deletion } from '../../kit/deletion.ts';
import { serverPath } from '../client/base-path.ts';
import { cueline, currentWorkspaceId } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { execute } from './start-execution.ts';

export type Execution = ExecutionPage['executions'][number];
export type ExecutionDetail = Awaited<ReturnType<Cueline['status']>>;

const recordPollMs = 1_500;

/** Poll intervals of a list with and without executions in progress. */
const [activePollMs, idlePollMs] = [3_000, 20_000];

/** The first executions of one agent or of all, for a summary. `live` polls it while it is visible. */
export const historyQuery = (
  agentId: string | undefined,
  filters: ExecutionFilters,
  live: boolean,
) =>
  queryOptions({
    queryKey: ['executions', 'list', agentId ?? null, filters],
    queryFn: ({ signal }): Promise<ExecutionPage> =>
      cueline.list(agentId ?? null, filters, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      // Keep polling after an error, so that the list recovers when the server does.
      if (!live || (state.error && !state.data)) return false;
      return !state.error && state.data?.executions.some(isInProgress) ? activePollMs : idlePollMs;
    },
  });

/** The number of executions that have not ended. */
export const runningQuery = queryOptions({
  queryKey: ['executions', 'running'],
  queryFn: async ({ signal }) => {
    const filters = {
      status: 'processing',
      include: 'processing',
      limit: 1,
      omit: 'bodies',
    } as const;
    return (await cueline.list(null, filters, { signal })).pagination.total;
  },
  refetchInterval: 5_000,
});

export const executionQuery = (agentId: string, executionId: string) =>
  queryOptions({
    queryKey: ['executions', 'record', agentId, executionId],
    queryFn: ({ signal }) => cueline.status(agentId, executionId, { signal }),
    refetchInterval: ({ state }) => (state.data && isInProgress(state.data) ? recordPollMs : false),
  });

/** The events sent for an execution. */
export const executionEventsQuery = (agentId: string, executionId: string) =>
  queryOptions({
    queryKey: ['executions', 'events', agentId, executionId],
    queryFn: ({ signal }) => cueline.executionEvents(agentId, executionId, { signal }),
  });

/** The marks of an execution that runs this one again. */
export function rerunOf(executionId: string, playground: true | undefined) {
  return { rerunOf: executionId, ...(playground && { playground }) };
}

/** Executions with and without the mark of a playground. */
const marked = ['true', 'false'] as const;

/** The latest executions of these versions of a prompt. */
export const versionExecutionsQuery = (promptVersionIds: readonly string[]) =>
  queryOptions({
    queryKey: ['executions', 'of versions', promptVersionIds],
    queryFn: ({ signal }) => {
      const query = { promptVersionId: promptVersionIds, playground: marked } as const;
      return cueline.list(null, { ...query, omit: 'bodies', limit: 20 }, { signal });
    },
    enabled: promptVersionIds.length > 0,
  });

/** The execution with this id, whichever its agent; null if there is none that the user can see. */
export async function findExecution(executionId: string): Promise<Execution | null> {
  const { executions } = await cueline.list(null, {
    ...{ executionId, include: 'processing', limit: 1 },
  });
  return executions[0] ?? null;
}

/** The latest executions of an agent. */
export const recentExecutionsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['executions', 'recent', agentId],
    queryFn: ({ signal }) => {
      const query = { omit: 'bodies', limit: 20, playground: marked } as const;
      return cueline.list(agentId, query, { signal });
    },
  });

/** The executions that run this one again, newest first. */
export const rerunsQuery = (agentId: string, executionId: string) =>
  queryOptions({
    queryKey: ['executions', 'reruns', agentId, executionId],
    queryFn: ({ signal }) => {
      const query = { rerunOf: executionId, include: 'processing', omit: 'bodies' } as const;
      return cueline.list(agentId, { ...query, limit: 20 }, { signal });
    },
  });

export const isInProgress = ({ status }: Pick<Execution, 'status'>) => status === 'processing';

/** Where it comes from. Lists show executions of the playground beside others only on request. */
export function sourceText({ source, playground }: Pick<Execution, 'source' | 'playground'>) {
  return playground ? `${source}, playground` : source;
}

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
    // Even after an error: the execution may have ended meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['executions'] }),
  });
}

export const deleteExecution = (agentId: string, executionId: string, leave: () => Promise<void>) =>
  deletion(() => cueline.deleteExecution(agentId, executionId), leave, [
    ['executions', 'list'],
    executionQuery(agentId, executionId).queryKey,
  ]);

/** Runs an execution again. One of a playground stays one. */
export const runAgain = ({ agentId, executionId, playground }: ExecutionDetail) => ({
  run: ({ values, labels }: { values: Variables; labels: Labels }) =>
    execute(agentId, values, labels, rerunOf(executionId, playground)),
  ...{ saved: '', stale: [['executions']] },
});
