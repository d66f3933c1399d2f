import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKeyInput, PageQuery } from '../../src/client/index.ts';
import { cueline } from './client.ts';

export const keysQuery = (page: PageQuery) =>
  queryOptions({
    queryKey: ['keys', page],
    queryFn: ({ signal }) => cueline.keys.list(page, { signal }),
    placeholderData: keepPreviousData,
  });

function useKeyChange<Input, Result>(mutationFn: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
}

/** With the secret, which is shown this once: it stays in the answer and is never kept. */
export const useIssueKey = () => useKeyChange((key: ApiKeyInput) => cueline.keys.create(key));

export const useRevokeKey = () => useKeyChange((apiKeyId: string) => cueline.keys.revoke(apiKeyId));

export const useRotateKey = () =>
  useKeyChange(({ apiKeyId, graceSeconds }: { apiKeyId: string; graceSeconds: number }) =>
    cueline.keys.rotate(apiKeyId, { graceSeconds }),
  );
