import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import {
  CuelineError,
  type EndedExecution,
  type ExecuteAccepted,
  type Variables,
} from '../../src/client/index.ts';
import { cueline } from './client.ts';
import { randomKey } from './random-key.ts';
import { useWrite } from './use-write.ts';

export type RunStarted = Pick<ExecuteAccepted, 'agentId' | 'executionId' | 'ignoredVariables'>;

/** Somewhat longer than a run may take. */
const waitMsMax = 3_700_000;

/** Where a run that was started from the page stands. */
export interface RunState {
  readonly run: {
    readonly isIdle: boolean;
    readonly isPending: boolean;
    readonly data: EndedExecution | undefined;
    readonly error: unknown;
  };
  readonly cancel: {
    readonly isPending: boolean;
    readonly error: unknown;
    mutate(): void;
  };
}

/** A run that is started from the page, watched until it ends, and can be ended before. */
export function useRun<Order>(start: (order: Order) => Promise<RunStarted>) {
  const queries = useQueryClient();
  const started = useRef<Promise<RunStarted>>(null);
  const left = useRef(new AbortController());
  useEffect(() => {
    const leave = new AbortController();
    left.current = leave;
    // The run goes on and its record is in the history; a call that waits for it would hold a connection of few.
    return () => leave.abort();
  }, []);
  const run = useWrite({
    // What the cancelation of an earlier run was refused with says nothing of this one.
    onMutate: () => cancel.reset(),
    mutationFn: async (order: Order): Promise<EndedExecution> => {
      started.current = start(order);
      const { agentId, executionId } = await started.current;
      return cueline.wait(agentId, executionId, {
        timeoutMs: waitMsMax,
        signal: left.current.signal,
      });
    },
    // Whatever shows figures or a history has one run more.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['executions'] });
      void queries.invalidateQueries({ queryKey: ['agents'] });
    },
  });
  const cancel = useWrite({
    mutationFn: async () => {
      // Whoever cancels at once may be faster than the answer that says what to cancel.
      const accepted = await started.current?.catch(() => null);
      if (accepted) await cueline.cancel(accepted.agentId, accepted.executionId);
    },
  });
  return { run, cancel };
}

/**
 * From a session, in any stage. A key of its own makes it safe to be sent again, where the way to the server was cut; a
 * limit that was reached is told at once: nobody looks at a page for a minute until the next window begins.
 */
export async function execute(agentId: string, variables: Variables): Promise<RunStarted> {
  const once = { idempotencyKey: randomKey(), retries: 0 };
  try {
    return await cueline.agents.executeInSession(agentId, variables, once);
  } catch (error) {
    if (!(error instanceof CuelineError) || ![0, 502, 503, 504].includes(error.status)) throw error;
    return cueline.agents.executeInSession(agentId, variables, { ...once, retries: 1 });
  }
}
