import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** Refused calls of the last 30 days, counted by key and code. */
export const refusalsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'refusals'],
    queryFn: ({ signal }) => cueline.agents.refusals(agentId, { signal }),
  });

/** Those of a key, counted by agent and code. */
export const keyRefusalsQuery = (apiKeyId: string) =>
  queryOptions({
    queryKey: ['keys', 'refusals', apiKeyId],
    queryFn: ({ signal }) => cueline.keys.refusals(apiKeyId, { signal }),
  });
