import { queryOptions } from '@tanstack/react-query';
import type { Plan } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useChange } from '../client/use-invalidating-mutation.ts';

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => cueline.usage({ signal }),
});

export const useSetPlan = () => useChange((plan: Plan) => cueline.setPlan(plan), ['usage']);
