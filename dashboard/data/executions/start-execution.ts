import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Labels, SessionExecuteOptions } from '../../../src/client/index.ts';
import {
  CuelineError,
  type EndedExecution,
  type ExecuteAccepted,
  type Variables,
} from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { randomKey } from '../text/random-key.ts';
import { followExecution } from './follow-execution.ts';

export type StartedExecution = Pick<
  ExecuteAccepted,
  'agentId' | 'executionId' | 'ignoredVariables'
>;

/** Slightly longer than an execution may take. */
const waitMsMax = 3_700_000;

/** The state of an execution started on this page. */
export interface ExecutionState {
  /** Of the running execution, as it arrives. */
  readonly text: string;
  readonly execution: {
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

/** Starts an execution, shows its text as it arrives, and can cancel it. */
export function useStartExecution<Input>(start: (input: Input) => Promise<StartedExecution>) {
  const queries = useQueryClient();
  const started = useRef<Promise<StartedExecution>>(null);
  const unmounted = useRef(new AbortController());
  const [text, setText] = useState('');
  useEffect(() => {
    const controller = new AbortController();
    unmounted.current = controller;
    // On unmount the execution continues and its record appears in the list, but its stream would hold one of the
    // browser's few connections.
    return () => controller.abort();
  }, []);
  const execution = useSingleFlight({
    // The error of canceling a previous execution does not apply to this one.
    onMutate: () => cancel.reset(),
    mutationFn: async (input: Input): Promise<EndedExecution> => {
      setText('');
      started.current = start(input);
      const signal = AbortSignal.any([unmounted.current.signal, AbortSignal.timeout(waitMsMax)]);
      return followExecution(await started.current, signal, setText);
    },
    // Lists and statistics have one execution more.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['executions'] });
      void queries.invalidateQueries({ queryKey: ['agents'] });
    },
  });
  const cancel = useSingleFlight({
    mutationFn: async () => {
      // Cancel may be pressed before the response with the execution id arrives.
      const accepted = await started.current?.catch(() => null);
      if (accepted) await cueline.cancel(accepted.agentId, accepted.executionId);
    },
  });
  return { text, execution, cancel };
}

/**
 * Executes an agent in any stage from a session. The idempotency key makes retries after connection failures safe. Rate
 * limit errors are not retried: users should not wait a minute for the next window.
 */
export async function execute(
  agentId: string,
  variables: Variables,
  labels: Labels = {},
  /** The execution that this one runs again, whether it is one of a playground, with its draft, and its limit of cost. */
  marks: Pick<SessionExecuteOptions, 'rerunOf' | 'playground' | 'draft' | 'maxCostUSD'> = {},
): Promise<StartedExecution> {
  const once = { ...labels, ...marks, stream: true, idempotencyKey: randomKey(), retries: 0 };
  try {
    return await cueline.agents.executeInSession(agentId, variables, once);
  } catch (error) {
    if (!(error instanceof CuelineError) || ![0, 502, 503, 504].includes(error.status)) throw error;
    return cueline.agents.executeInSession(agentId, variables, { ...once, retries: 1 });
  }
}
