import { type MutateOptions, type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { sessionEnd } from './query-client.ts';
import { isSignedOut } from './signed-out.ts';

/**
 * Whatever the page writes: one order is one call. React Query alone lets two pass: a second click comes before the
 * first one is drawn, and after the answer, while the page that `leadsAway` says it leads to is still fetched.
 */
export function useWrite<Result, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
  { leadsAway = false } = {},
) {
  const { reset: forget, ...mutation } = useMutation(options);
  // React Query tells of it in a task of its own: until then a key pressed right after would find nothing under way.
  const [ordered, setOrdered] = useState(false);
  const isPending = ordered || mutation.isPending || (leadsAway && mutation.isSuccess);
  const order = useRef<Promise<Result>>(null);
  // Once it is drawn that there is nothing under way, the next click is another order.
  useLayoutEffect(() => {
    if (!isPending) order.current = null;
  });
  const { error } = mutation;
  // Of what is forgotten while it is under way the end is nobody's any more.
  const reset = useCallback(() => {
    order.current = null;
    setOrdered(false);
    forget();
  }, [forget]);
  // What was refused because the session had ended is not said any more once there is another one.
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
