import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** The versions that an agent has had of late, the one in force first. */
export const pinsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'pins'],
    queryFn: ({ signal }) => cueline.agents.pins(agentId, { limit: 100 }, { signal }),
  });
