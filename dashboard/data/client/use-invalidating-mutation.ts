import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useSingleFlight } from './use-single-flight.ts';

/**
 * A mutation that then invalidates `queryKey`, also after an error, which may mean a concurrent change. It does not
 * wait for the refetch: the result, such as a new key, shows at once.
 */
export function useInvalidatingMutation<Input, Result>(
  change: (input: Input) => Promise<Result>,
  queryKey: QueryKey,
) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: change,
    onSettled: () => void queries.invalidateQueries({ queryKey }),
  });
}
