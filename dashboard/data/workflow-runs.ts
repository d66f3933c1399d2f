import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type { WorkflowRunInput, WorkflowRunDetail, WorkflowRunFilters } from '../../src/client/index.ts';
import { cueline } from './client.ts';
import { randomKey } from './random-key.ts';
import { useWrite } from './use-write.ts';

export type { WorkflowRunDetail };
export type RunStep = WorkflowRunDetail['steps'][number];
export type RunItem = NonNullable<RunStep['items']>[number];
export type RunStatus = WorkflowRunDetail['status'];
export type StepStatus = RunStep['status'];

/** Between two looks at a list that changes, and at one in which nothing runs. */
const [livelyMs, calmMs] = [3_000, 20_000];
const runMs = 1_000;

export const workflowRunsQuery = (workflowId: string, filters: WorkflowRunFilters) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, 'list', filters],
    queryFn: ({ signal }) => cueline.workflows.runs(workflowId, filters, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      // After a failure, too: what is shown comes up to date by itself once the server is back.
      if (state.error && !state.data) return false;
      return !state.error && state.data?.runs.some(isUnderWay) ? livelyMs : calmMs;
    },
  });

export const workflowRunQuery = (workflowId: string, workflowRunId: string) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, workflowRunId],
    queryFn: async ({ signal, client, queryKey }) => {
      const read = (more: { readonly omit?: 'bodies' }) =>
        cueline.workflows.status(workflowId, workflowRunId, { signal, ...more });
      const before = client.getQueryData<WorkflowRunDetail>(queryKey);
      if (before && isUnderWay(before)) {
        // Up to a megabyte, and the same each second: it is read when the page opens, and with the output at the end.
        const run = await read({ omit: 'bodies' });
        if (isUnderWay(run)) return before.input ? { ...run, input: before.input } : run;
      }
      return read({});
    },
    refetchInterval: ({ state }) => (state.data && needsALook(state.data) ? runMs : false),
  });

/** Of the items of a step a page that lies beyond those that the run itself tells. */
export const runItemsQuery = (
  run: Pick<WorkflowRunDetail, 'workflowId' | 'workflowRunId' | 'status'>,
  stepName: string,
  offset: number,
) => {
  const { workflowId, workflowRunId } = run;
  const hasEnded = !isUnderWay(run);
  const page = { limit: itemsOnPage, offset };
  return queryOptions({
    queryKey: ['workflow-runs', workflowId, workflowRunId, 'items', stepName, offset],
    queryFn: async ({ signal }) => ({
      ...(await cueline.workflows.items(workflowId, workflowRunId, stepName, page, { signal })),
      afterEnd: hasEnded,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      // What was read before the run ended is looked at once more: its items have ended since.
      const settled = hasEnded && (!data || (data.afterEnd && !data.items.some(isBeingStopped)));
      return settled ? false : livelyMs;
    },
  });
};

export const itemsOnPage = 50;

export const isUnderWay = ({ status }: Pick<WorkflowRunDetail, 'status'>) =>
  status === 'processing';

/** The executions of a run that was ended are stopped a moment later. */
function needsALook(run: WorkflowRunDetail): boolean {
  return (
    isUnderWay(run) ||
    run.steps.some((step) => isBeingStopped(step) || step.items?.some(isBeingStopped))
  );
}

const isBeingStopped = ({ status }: Pick<RunItem, 'status'>) => status === 'canceling';

/** From a session. A key of its own makes it safe to be sent again. */
export function useStartWorkflow(workflowId: string) {
  const queries = useQueryClient();
  return useWrite(
    {
      mutationFn: (input: WorkflowRunInput) =>
        cueline.workflows.executeInSession(workflowId, input, { idempotencyKey: randomKey() }),
      onSuccess: () => queries.invalidateQueries({ queryKey: ['workflow-runs', workflowId] }),
    },
    { leadsAway: true },
  );
}

export function useCancelWorkflowRun(workflowId: string, workflowRunId: string) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: () => cueline.workflows.cancel(workflowId, workflowRunId),
    // Also after a refusal: it has ended meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['workflow-runs', workflowId] }),
  });
}
