import { type MutateOptions, type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { sessionEnd } from './query-client.ts';
import { isSignedOut } from './signed-out.ts';

/**
 * A mutation with at most one call in flight. `useMutation` alone lets a second click through: before the pending state
 * has rendered, and after the response while the next page (`leadsAway`) still loads.
 */
export function useWrite<Result, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
  { leadsAway = false } = {},
) {
  const { reset: forget, ...mutation } = useMutation(options);
  // React Query publishes the pending state asynchronously: a key pressed right after would find the form idle.
  const [ordered, setOrdered] = useState(false);
  const isPending = ordered || mutation.isPending || (leadsAway && mutation.isSuccess);
  const order = useRef<Promise<Result>>(null);
  // After the idle state has rendered, the next click starts a new call.
  useLayoutEffect(() => {
    if (!isPending) order.current = null;
  });
  const { error } = mutation;
  // A call that is reset while in flight reports its result to nobody.
  const reset = useCallback(() => {
    order.current = null;
    setOrdered(false);
    forget();
  }, [forget]);
  // Clears the error of an ended session once a new session exists.
  useEffect(() => {
    if (!isSignedOut(error)) return;
    sessionEnd.refused.add(reset);
    return () => void sessionEnd.refused.delete(reset);
  }, [error, reset]);
  const mutateAsync = (input: Input, callbacks?: MutateOptions<Result, Error, Input>) => {
    if (order.current !== null) return order.current;
    setOrdered(true);
    const own = mutation.mutateAsync(input, callbacks).finally(() => {
      if (order.current === own) setOrdered(false);
    });
    order.current = own;
    return own;
  };
  const mutate = (input: Input, callbacks?: MutateOptions<Result, Error, Input>) =>
    void mutateAsync(input, callbacks).catch(() => {});
  return { ...mutation, isPending, reset, mutate, mutateAsync };
}
