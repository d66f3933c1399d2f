import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Workflow, WorkflowFilters, WorkflowVersion } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
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
