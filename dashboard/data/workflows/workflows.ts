import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Workflow,
  WorkflowFilters,
  WorkflowInput,
  WorkflowPatch,
  WorkflowVersion,
  WorkflowVersionInput,
} from '../../../src/client/index.ts';
import { type Action, deletion } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { versionPages } from '../prompts/version-pages.ts';

export type WorkflowSummary = Awaited<
  ReturnType<typeof cueline.workflows.list>
>['workflows'][number];
export type WorkflowDefinition = Workflow['definition'];
export type WorkflowStep = WorkflowDefinition['steps'][number];

export type WorkflowVersionSummary = Omit<WorkflowVersion, 'definition'>;

export const workflowsQuery = (filters: WorkflowFilters) =>
  queryOptions({
    queryKey: ['workflows', 'list', filters],
    queryFn: ({ signal }) => cueline.workflows.list(filters, { signal }),
    placeholderData: keepPreviousData,
  });

const activityMs = 30_000;

/** Includes recent activity of each workflow, in one call. */
export const activeWorkflowsQuery = (filters: WorkflowFilters) =>
  queryOptions({
    ...workflowsQuery({ ...filters, include: 'activity' }),
    refetchInterval: activityMs,
    // Activity changes constantly, so returning to the list refetches it.
    staleTime: 0,
  });

export const workflowQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ['workflows', workflowId],
    queryFn: ({ signal }) => cueline.workflows.get(workflowId, { signal }),
  });

/** All versions, newest first, loaded page by page. */
export const workflowVersionsQuery = (workflowId: string) =>
  versionPages(['workflows', workflowId, 'versions'], (page, options) =>
    cueline.workflows.versions(workflowId, page, options),
  );

/** Versions are immutable, so they never become stale. */
export const workflowVersionQuery = (workflowId: string, workflowVersionId: string) =>
  queryOptions({
    queryKey: ['workflows', workflowId, 'version', workflowVersionId],
    queryFn: ({ signal }) =>
      cueline.workflows.getVersion(workflowId, workflowVersionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Validates a definition on the server; cached per definition. */
export const validationQuery = (definition: unknown) =>
  queryOptions({
    queryKey: ['workflow-verdict', definition],
    queryFn: ({ signal }) => cueline.workflows.validate(definition, { signal }),
    gcTime: 60_000,
  });

/** `onCreated` runs even if the user has left the page. */
export function useCreateWorkflow(onCreated: (made: Workflow) => void) {
  const queries = useQueryClient();
  return useSingleFlight(
    {
      meta: { saved: 'Workflow created' },
      mutationFn: (workflow: WorkflowInput) => cueline.workflows.create(workflow),
      onSuccess: (made) => {
        void queries.invalidateQueries({ queryKey: ['workflows'] });
        onCreated(made);
      },
    },
    { leadsAway: true },
  );
}

export const changeWorkflow = (workflowId: string): Action<WorkflowPatch, Workflow> => ({
  run: (patch) => cueline.workflows.update(workflowId, patch),
  saved: 'Saved',
  stale: [['workflows']],
});

export interface NewVersion {
  readonly version: WorkflowVersionInput;
  readonly pin: boolean;
}

export interface AddedVersion {
  readonly version: WorkflowVersion;
  readonly pinned: boolean;
  /** Set if pinning failed. The version is saved nevertheless: saving again would duplicate it. */
  readonly pinError: unknown;
}

export function useAddVersion(workflowId: string) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: async ({ version: input, pin }: NewVersion): Promise<AddedVersion> => {
      const version = await cueline.workflows.addVersion(workflowId, input);
      const { workflowVersionId } = version;
      // Immutable, so the response can seed the cache.
      const { queryKey } = workflowVersionQuery(workflowId, workflowVersionId);
      queries.setQueryData(queryKey, version);
      if (!pin) return { version, pinned: false, pinError: null };
      return cueline.workflows.update(workflowId, { workflowVersionId }).then(
        () => ({ version, pinned: true, pinError: null }),
        (pinError: unknown) => ({ version, pinned: false, pinError }),
      );
    },
    // Even after an error: the version may be saved although the response was lost.
    onSettled: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
  });
}

const areas = ['workflows', 'workflow-runs', 'schedules', 'webhooks'];

export const deleteWorkflow = (workflowId: string, leave: () => Promise<void>) =>
  deletion(() => cueline.workflows.delete(workflowId), leave, [
    ['workflows', 'list'],
    ...areas.map((area) => [area, workflowId]),
  ]);
