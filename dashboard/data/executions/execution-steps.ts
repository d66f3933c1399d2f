import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';
import { type ExecutionDetail, isInProgress } from './executions.ts';

export type ExecutionStep = Awaited<ReturnType<typeof cueline.executionSteps>>[number];

const pollMs = 2_000;

/** The turns of the model and the calls of tools, followed while the execution runs. */
export const stepsQuery = (execution: ExecutionDetail) =>
  queryOptions({
    queryKey: ['executions', 'steps', execution.agentId, execution.executionId, execution.status],
    queryFn: ({ signal }) =>
      cueline.executionSteps(execution.agentId, execution.executionId, { signal }),
    enabled: execution.turns !== undefined,
    refetchInterval: isInProgress(execution) ? pollMs : false,
  });
