import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { RunInput, WorkflowRunDetail, WorkflowRunFilters } from '../../src/client/index.ts';
import { cueline } from './client.ts';
import { randomKey } from './random-key.ts';

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
    queryFn: ({ signal }) => cueline.workflows.status(workflowId, workflowRunId, { signal }),
    refetchInterval: ({ state }) => (state.data && needsALook(state.data) ? runMs : false),
  });

/** Of the items of a step a page that lies beyond those that the run itself tells. */
export const runItemsQuery = (
  { workflowId, workflowRunId, status }: WorkflowRunDetail,
  stepName: string,
  offset: number,
) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, workflowRunId, 'items', stepName, offset],
    queryFn: ({ signal }) =>
      cueline.workflows.items(
        workflowId,
        workflowRunId,
        stepName,
        { limit: itemsOnPage, offset },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      return status === 'processing' && !state.error ? livelyMs : false;
    },
  });

export const itemsOnPage = 50;

export const isUnderWay = ({ status }: Pick<WorkflowRunDetail, 'status'>) =>
  status === 'processing';

/** The executions of a run that was ended are stopped a moment later. */
function needsALook(run: WorkflowRunDetail): boolean {
  return isUnderWay(run) || run.steps.some(({ status }) => status === 'canceling');
}

/** From a session. A key of its own makes it safe to be sent again. */
export function useStartWorkflow(workflowId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: RunInput) =>
      cueline.workflows.tryOut(workflowId, input, { idempotencyKey: randomKey() }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workflow-runs', workflowId] }),
  });
}

export function useCancelWorkflowRun(workflowId: string, workflowRunId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => cueline.workflows.cancel(workflowId, workflowRunId),
    // Also after a refusal: it has ended meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['workflow-runs', workflowId] }),
  });
}
