import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** The agent's pinned versions, current one first. */
export const pinsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'pins'],
    queryFn: ({ signal }) => cueline.agents.pins(agentId, { limit: 100 }, { signal }),
  });
