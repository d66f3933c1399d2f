import { queryOptions } from '@tanstack/react-query';
import type { Plan } from '../../../src/client/index.ts';
import { useAction } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => cueline.usage({ signal }),
});

export const useSetPlan = () =>
  useAction({
    run: (plan: Plan) => cueline.setPlan(plan),
    ...{ saved: 'Saved', stale: [usageQuery.queryKey] },
  });
