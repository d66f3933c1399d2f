import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useSingleFlight } from './use-single-flight.ts';

/**
 * A mutation that then invalidates `queryKey`, even after an error, which may mean a concurrent change. It does not
 * wait for the refetch: the result, such as a new key, shows at once. `saved` is announced.
 */
export function useInvalidatingMutation<Input, Result>(
  change: (input: Input) => Promise<Result>,
  queryKey: QueryKey,
  saved = 'Saved',
) {
  const queries = useQueryClient();
  return useSingleFlight({
    mutationFn: change,
    meta: { saved },
    onSettled: () => void queries.invalidateQueries({ queryKey }),
  });
}
