import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Workflow,
  WorkflowFilters,
  WorkflowInput,
  WorkflowPatch,
  WorkflowVersion,
  WorkflowVersionInput,
} from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useDeletion } from '../client/use-delete.ts';
import { useWrite } from '../client/use-single-flight.ts';
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

/** With what goes on in each, all in one call. */
export const activeWorkflowsQuery = (filters: WorkflowFilters) =>
  queryOptions({
    ...workflowsQuery({ ...filters, include: 'activity' }),
    refetchInterval: activityMs,
    // Runs come and go: whoever comes back to the list asks anew.
    staleTime: 0,
  });

export const workflowQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ['workflows', workflowId],
    queryFn: ({ signal }) => cueline.workflows.get(workflowId, { signal }),
  });

/** All versions, newest first, as far as they were asked for. */
export const workflowVersionsQuery = (workflowId: string) =>
  versionPages(['workflows', workflowId, 'versions'], (page, options) =>
    cueline.workflows.versions(workflowId, page, options),
  );

/** A version never changes, so it is read once. */
export const workflowVersionQuery = (workflowId: string, workflowVersionId: string) =>
  queryOptions({
    queryKey: ['workflows', workflowId, 'version', workflowVersionId],
    queryFn: ({ signal }) =>
      cueline.workflows.getVersion(workflowId, workflowVersionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What is wrong with a definition; asked again only when it says something else. */
export const verdictQuery = (definition: unknown) =>
  queryOptions({
    queryKey: ['workflow-verdict', definition],
    queryFn: ({ signal }) => cueline.workflows.validate(definition, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });

/** `onCreated` is called whatever page is shown by then. */
export function useCreateWorkflow(onCreated: (made: Workflow) => void) {
  const queries = useQueryClient();
  return useWrite(
    {
      mutationFn: (workflow: WorkflowInput) => cueline.workflows.create(workflow),
      onSuccess: (made) => {
        void queries.invalidateQueries({ queryKey: ['workflows'] });
        onCreated(made);
      },
    },
    { leadsAway: true },
  );
}

/** `workflowVersionId` pins another version. */
export function useChangeWorkflow(workflowId: string) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: (patch: WorkflowPatch) => cueline.workflows.update(workflowId, patch),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
  });
}

export interface VersionOrder {
  readonly version: WorkflowVersionInput;
  /** Whether it is pinned at once. */
  readonly pin: boolean;
}

export interface AddedVersion {
  readonly version: WorkflowVersion;
  readonly pinned: boolean;
  /** Why it could not be pinned, where that was asked for. It is saved all the same: once more would be twice. */
  readonly pinError: unknown;
}

export function useAddVersion(workflowId: string) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: async ({ version: input, pin }: VersionOrder): Promise<AddedVersion> => {
      const version = await cueline.workflows.addVersion(workflowId, input);
      const { workflowVersionId } = version;
      // It never changes, so nobody needs to read it.
      const { queryKey } = workflowVersionQuery(workflowId, workflowVersionId);
      queries.setQueryData(queryKey, version);
      if (!pin) return { version, pinned: false, pinError: null };
      return cueline.workflows.update(workflowId, { workflowVersionId }).then(
        () => ({ version, pinned: true, pinError: null }),
        (pinError: unknown) => ({ version, pinned: false, pinError }),
      );
    },
    // Also after a failure: the answer may have been lost and not the version.
    onSettled: () => queries.invalidateQueries({ queryKey: ['workflows'] }),
  });
}

export function useDeleteWorkflow(workflowId: string, leave: () => Promise<void>) {
  const areas = ['workflows', 'workflow-runs', 'schedules', 'webhooks'];
  return useDeletion({
    order: () => cueline.workflows.delete(workflowId),
    lists: ['workflows', 'list'],
    leave,
    gone: areas.map((area) => [area, workflowId]),
  });
}
