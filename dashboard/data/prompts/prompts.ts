import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Prompt,
  PromptFilters,
  PromptInput,
  PromptPatch,
  PromptVersionInput,
} from '../../../src/client/index.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
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

export const createPrompt: Action<PromptInput, Prompt> = {
  run: (prompt) => cueline.prompts.create(prompt),
  ...{ saved: 'Prompt created', stale: [['prompts', 'list']] },
};

export function useCreateVersion(promptId: string) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: (version: PromptVersionInput) => cueline.versions.create(promptId, version),
    onSuccess: (version) => {
      queries.setQueryData(versionQuery(promptId, version.promptVersionId).queryKey, version);
      return queries.invalidateQueries({ queryKey: ['prompts'] });
    },
  });
}

const stale = [['prompts']];

export const changePrompt = (promptId: string): Action<PromptPatch, Prompt> => ({
  ...{ run: (patch) => cueline.prompts.update(promptId, patch), saved: 'Saved', stale },
});

export const archivePrompt = (
  promptId: string,
  verb: 'archive' | 'restore',
): Action<void, Prompt> => ({
  ...{ run: () => cueline.prompts[verb](promptId), saved: 'Saved', stale },
});
