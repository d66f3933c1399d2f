import { Button, Group, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Alert } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { RowMenu } from '../../../components/tables/row-menu.tsx';
import { alertsQuery, useDeleteAlert } from '../../../data/workspace/alerts.ts';
import classes from '../settings.module.css';
import { AlertForm } from './alert-form.tsx';
import { formatValue, metricTexts } from './alert-metrics.ts';

/** The alerts of the workspace, with their states. */
export function AlertsPage() {
  const alerts = useQuery(alertsQuery);
  const [edited, setEdited] = useState<Alert | 'new' | null>(null);
  const [deleted, setDeleted] = useState<Alert | null>(null);
  const remove = useDeleteAlert();
  const add = <Button onClick={() => setEdited('new')}>Add alert</Button>;
  return (
    <>
      {alerts.isError && !alerts.data ? (
        <ErrorState error={alerts.error} onRetry={() => void alerts.refetch()} />
      ) : alerts.data?.length === 0 ? (
        <EmptyState icon="warning" title="No alerts yet" action={add}>
          An alert watches failures, calls, latency, cost, the quota or the queue, and notifies
          endpoints when it fires and clears.
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" align="flex-end">
            <p className={classes.muted}>Evaluated once a minute.</p>
            {add}
          </Group>
          <div className={classes.rows}>
            <DataTable
              caption="Alerts"
              columns={columnsOf(setEdited, setDeleted)}
              rows={alerts.data}
              rowKey={({ alertId }) => alertId}
              loadingRows={2}
            />
          </div>
        </>
      )}
      {edited !== null && (
        <AlertForm alert={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
      <ConfirmDialog
        opened={deleted !== null}
        title={`Delete ${deleted?.name}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={() => setDeleted(null)}
        onConfirm={() =>
          deleted && remove.mutate(deleted.alertId, { onSuccess: () => setDeleted(null) })
        }
      >
        It is no longer evaluated, and sends nothing more. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

const tones = { ok: 'good', firing: 'bad', no_data: 'plain' } as const;

function columnsOf(
  edit: (alert: Alert) => void,
  remove: (alert: Alert) => void,
): readonly Column<Alert>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name }) => (
        <span className={classes.name} dir="auto">
          {name}
        </span>
      ),
    },
    {
      key: 'state',
      header: 'State',
      cell: ({ state, stateSince }) => (
        <>
          <StateBadge tone={tones[state]} text={state.replace('_', ' ')} />
          <div className={classes.muted}>
            <Time at={stateSince} relative />
          </div>
        </>
      ),
    },
    {
      key: 'value',
      header: 'Value',
      hideBelow: 'sm',
      cell: ({ metric, value }) => formatValue(metric, value),
    },
    {
      key: 'condition',
      header: 'Fires if',
      hideBelow: 'sm',
      cell: ({ metric, threshold, windowMinutes }) => (
        <>
          {metricTexts[metric].label} above {formatValue(metric, threshold)}
          {!metricTexts[metric].isCurrent && (
            <div className={classes.muted}>in {windowMinutes.toLocaleString()} min</div>
          )}
        </>
      ),
    },
    {
      key: 'actions',
      header: 'Actions',
      align: 'right',
      sticky: true,
      cell: (alert) => (
        <RowMenu name={alert.name}>
          <Menu.Item onClick={() => edit(alert)}>Edit and preview</Menu.Item>
          <Menu.Item color="var(--bad)" onClick={() => remove(alert)}>
            Delete
          </Menu.Item>
        </RowMenu>
      ),
    },
  ];
}
