import { queryOptions } from '@tanstack/react-query';
import type { Plan } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => cueline.usage({ signal }),
});

export const useSetPlan = () =>
  useInvalidatingMutation((plan: Plan) => cueline.setPlan(plan), ['usage']);
