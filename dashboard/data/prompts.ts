import { queryOptions } from '@tanstack/react-query';
import { cueline } from './client.ts';

export const promptQuery = (promptId: string) =>
  queryOptions({
    queryKey: ['prompts', promptId],
    queryFn: ({ signal }) => cueline.prompts.get(promptId, { signal }),
  });

/** A version never changes, so it is read once. */
export const versionQuery = (promptId: string, promptVersionId: string) =>
  queryOptions({
    queryKey: ['prompts', promptId, 'versions', promptVersionId],
    queryFn: ({ signal }) => cueline.versions.get(promptId, promptVersionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
