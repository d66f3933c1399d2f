import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useWrite } from './use-single-flight.ts';

/**
 * A mutation that then invalidates `queryKey`, also after an error, which may mean a concurrent change. It does not
 * wait for the refetch: the result, such as a new key, shows at once.
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
