import { queryOptions } from '@tanstack/react-query';
import type { AlertInput } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

/** Refetched as often as alerts are evaluated. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => cueline.alerts.list({ signal }),
  refetchInterval: 60_000,
});

/** Creates an alert, or replaces the settings of one. */
export const useSaveAlert = (alertId: string | null) =>
  useInvalidatingMutation(
    (alert: AlertInput) =>
      alertId === null ? cueline.alerts.create(alert) : cueline.alerts.update(alertId, alert),
    alertsQuery.queryKey,
    alertId === null ? 'Alert created' : 'Saved',
  );

export const useDeleteAlert = () =>
  useInvalidatingMutation(
    (alertId: string) => cueline.alerts.delete(alertId),
    alertsQuery.queryKey,
    'Alert deleted',
  );

/** When the alert would have fired in the last days. */
export function usePreviewAlert() {
  return useSingleFlight({
    mutationFn: ({ alert, days }: { alert: AlertInput; days: number }) =>
      cueline.alerts.previewNew({ ...alert, days }),
  });
}
