import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Labels,
  WorkflowRunDetail,
  WorkflowRunFilters,
  WorkflowRunInput,
} from '../../../src/client/index.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { formatExactCount } from '../text/format.ts';
import { randomKey } from '../text/random-key.ts';

export type { WorkflowRunDetail };
export type WorkflowRunStep = WorkflowRunDetail['steps'][number];
export type WorkflowRunItem = NonNullable<WorkflowRunStep['items']>[number];
export type WorkflowRunStatus = WorkflowRunDetail['status'];
export type StepStatus = WorkflowRunStep['status'];

/** Poll intervals of a list with and without workflow runs in progress. */
const [activePollMs, idlePollMs] = [3_000, 20_000];
const runPollMs = 1_000;

export const workflowRunsQuery = (workflowId: string, filters: WorkflowRunFilters) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, 'list', filters],
    queryFn: ({ signal }) => cueline.workflows.runs(workflowId, filters, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      // Keep polling after an error, so that the list recovers when the server does.
      if (state.error && !state.data) return false;
      return !state.error && state.data?.runs.some(isInProgress) ? activePollMs : idlePollMs;
    },
  });

export const workflowRunQuery = (workflowId: string, workflowRunId: string) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, workflowRunId],
    queryFn: async ({ signal, client, queryKey }) => {
      const read = (more: { readonly omit?: 'bodies' }) =>
        cueline.workflows.status(workflowId, workflowRunId, { signal, include: 'usage', ...more });
      const before = client.getQueryData<WorkflowRunDetail>(queryKey);
      if (before && isInProgress(before)) {
        // Bodies can be a megabyte and do not change while polling: read them on the first load and at the end.
        const run = await read({ omit: 'bodies' });
        if (isInProgress(run)) return before.input ? { ...run, input: before.input } : run;
      }
      return read({});
    },
    refetchInterval: ({ state }) => (state.data && needsPolling(state.data) ? runPollMs : false),
  });

/** A page of a step's items beyond those included in the workflow run. */
export const workflowRunItemsQuery = (
  run: Pick<WorkflowRunDetail, 'workflowId' | 'workflowRunId' | 'status'>,
  stepName: string,
  { offset, status }: { readonly offset: number; readonly status?: 'failed' | undefined },
) => {
  const { workflowId, workflowRunId } = run;
  const hasEnded = !isInProgress(run);
  const page = { limit: itemsPageSize, offset, status, include: 'usage' } as const;
  return queryOptions({
    queryKey: [
      'workflow-runs',
      workflowId,
      workflowRunId,
      'items',
      stepName,
      offset,
      status ?? null,
    ],
    queryFn: async ({ signal }) => ({
      ...(await cueline.workflows.items(workflowId, workflowRunId, stepName, page, { signal })),
      afterEnd: hasEnded,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      // Refetch once after the end of the workflow run: its items have ended since.
      const settled = hasEnded && (!data || (data.afterEnd && !data.items.some(isCanceling)));
      return settled ? false : activePollMs;
    },
  });
};

export const itemsPageSize = 50;

/** Items that have failed in a run or a step, which may be a success all the same; undefined if there are none. */
export function failedItemsText(of: ItemCounts): string | undefined {
  const { itemCount = 0, itemsSucceeded = 0, itemsFailed = 0 } = of;
  if (itemsFailed === 0) return undefined;
  const [count, succeeded, failed] = [itemCount, itemsSucceeded, itemsFailed].map(formatExactCount);
  return `${succeeded} of ${count} succeeded, ${failed} failed`;
}

export type ItemCounts = Pick<WorkflowRunStep, 'itemCount' | 'itemsSucceeded' | 'itemsFailed'>;

export const isInProgress = ({ status }: Pick<WorkflowRunDetail, 'status'>) =>
  status === 'processing';

/** Executions of an ended workflow run are canceled shortly after it. */
function needsPolling(run: WorkflowRunDetail): boolean {
  return (
    isInProgress(run) ||
    run.steps.some((step) => isCanceling(step) || step.items?.some(isCanceling))
  );
}

const isCanceling = ({ status }: Pick<WorkflowRunItem, 'status'>) => status === 'canceling';

export function useStartWorkflow(workflowId: string) {
  const queries = useQueryClient();
  return useSingleFlight(
    {
      mutationFn: ({ input, ...fields }: { input: WorkflowRunInput } & RunFields) =>
        start(workflowId, input, fields),
      onSuccess: () => queries.invalidateQueries({ queryKey: ['workflow-runs', workflowId] }),
    },
    { leadsAway: true },
  );
}

export const cancelWorkflowRun = ({
  workflowId,
  workflowRunId,
}: WorkflowRunDetail): Action<void, unknown> => ({
  run: () => cueline.workflows.cancel(workflowId, workflowRunId),
  saved: '',
  stale: [['workflow-runs', workflowId]],
});

/** Another workflow run, of the version that is now pinned, with the same limit of cost. */
export const startAgain = ({ workflowId, maxCostUSD }: LimitedRun) => ({
  run: ({ values, labels }: { values: WorkflowRunInput; labels: Labels }) =>
    start(workflowId, values, { labels, maxCostUSD: maxCostUSD ?? null }),
  ...{ saved: '', stale: [['workflow-runs', workflowId]] },
});

/** A run of the items of a step that have not succeeded. A call that is sent again with the key returns the same run. */
export const rerunItems = (
  { workflowId, workflowRunId }: WorkflowRunDetail,
  idempotencyKey: string,
) => ({
  run: ({ step }: { readonly step: string }) =>
    cueline.workflows.rerunItems(workflowId, workflowRunId, step, {
      idempotencyKey: `${idempotencyKey} ${step}`,
    }),
  ...{ saved: '', stale: [['workflow-runs', workflowId]] },
});

interface LimitedRun {
  readonly workflowId: string;
  readonly maxCostUSD?: number | undefined;
}

interface RunFields {
  readonly labels: Labels;
  /** Null for no limit. */
  readonly maxCostUSD: number | null;
}

/** The idempotency key makes retries safe. */
function start(workflowId: string, input: WorkflowRunInput, { labels, maxCostUSD }: RunFields) {
  const limit = maxCostUSD !== null && { maxCostUSD };
  const options = { ...labels, ...limit, idempotencyKey: randomKey() };
  return cueline.workflows.executeInSession(workflowId, input, options);
}
