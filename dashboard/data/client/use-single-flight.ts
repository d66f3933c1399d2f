import { type MutateOptions, type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { isSignedOut } from './error-status.ts';
import { sessionEnd } from './query-client.ts';

/**
 * A mutation with at most one call in flight. `useMutation` alone lets a second click through: before the pending state
 * has rendered, and after the response while the next page (`leadsAway`) still loads.
 */
export function useSingleFlight<Result, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
  { leadsAway = false } = {},
) {
  const { reset: resetMutation, ...mutation } = useMutation(options);
  // React Query publishes the pending state asynchronously: a key pressed right after would find the form idle.
  const [started, setStarted] = useState(false);
  const isPending = started || mutation.isPending || (leadsAway && mutation.isSuccess);
  const inFlight = useRef<Promise<Result>>(null);
  // After the idle state has rendered, the next click starts a new call.
  useLayoutEffect(() => {
    if (!isPending) inFlight.current = null;
  });
  const { error } = mutation;
  // A call that is reset while in flight does not report its result.
  const reset = useCallback(() => {
    inFlight.current = null;
    setStarted(false);
    resetMutation();
  }, [resetMutation]);
  // Clears the error of an ended session once a new session exists.
  useEffect(() => {
    if (!isSignedOut(error)) return;
    sessionEnd.rejectedWrites.add(reset);
    return () => void sessionEnd.rejectedWrites.delete(reset);
  }, [error, reset]);
  const mutateAsync = (input: Input, callbacks?: MutateOptions<Result, Error, Input>) => {
    if (inFlight.current !== null) return inFlight.current;
    setStarted(true);
    const call = mutation.mutateAsync(input, callbacks).finally(() => {
      if (inFlight.current === call) setStarted(false);
    });
    inFlight.current = call;
    return call;
  };
  const mutate = (input: Input, callbacks?: MutateOptions<Result, Error, Input>) =>
    void mutateAsync(input, callbacks).catch(() => {});
  return { ...mutation, isPending, reset, mutate, mutateAsync };
}
