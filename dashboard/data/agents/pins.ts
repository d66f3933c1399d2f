import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { PinFilters } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';

/** The agent's pinned versions, current one first. */
export const pinsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'pins'],
    queryFn: ({ signal }) => cueline.agents.pins(agentId, { limit: 100 }, { signal }),
  });

/** The newest pins of all agents in a range. */
export const allPinsQuery = (range: PinFilters) =>
  queryOptions({
    queryKey: ['agents', 'pins', range],
    queryFn: ({ signal }) => cueline.agents.allPins({ ...range, limit: 100 }, { signal }),
    placeholderData: keepPreviousData,
  });
