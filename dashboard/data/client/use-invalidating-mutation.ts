import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useWrite } from './use-single-flight.ts';

/**
 * A write, after which what it may have changed is read anew: also after a refusal, which says that others were faster.
 * The write is done before that: what it answered, a new key for example, is not kept waiting for a list.
 */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  queryKey: QueryKey,
) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: change,
    onSettled: () => void queries.invalidateQueries({ queryKey }),
  });
}
