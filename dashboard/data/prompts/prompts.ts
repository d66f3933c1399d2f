import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { PromptFilters } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { versionPages } from './version-pages.ts';

export const promptsQuery = (filters: PromptFilters) =>
  queryOptions({
    queryKey: ['prompts', 'list', filters],
    queryFn: ({ signal }) => cueline.prompts.list(filters, { signal }),
    placeholderData: keepPreviousData,
  });

export const promptQuery = (promptId: string) =>
  queryOptions({
    queryKey: ['prompts', promptId],
    queryFn: ({ signal }) => cueline.prompts.get(promptId, { signal }),
  });

/** All versions, newest first, loaded page by page. */
export const versionsQuery = (promptId: string) =>
  versionPages(['prompts', promptId, 'versions'], (page, options) =>
    cueline.versions.list(promptId, page, options),
  );

/** Versions are immutable, so they never become stale. */
export const versionQuery = (promptId: string, promptVersionId: string) =>
  queryOptions({
    queryKey: ['prompts', promptId, 'version', promptVersionId],
    queryFn: ({ signal }) => cueline.versions.get(promptId, promptVersionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
