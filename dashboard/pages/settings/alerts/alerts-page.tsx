import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { alerts } from '../../../data/workspace/alerts.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { RowMenu } from '../../../kit/row-menu.tsx';
import { AlertForm } from './alert-form.tsx';
import { formatValue, metricTexts } from './alert-metrics.ts';

/** The alerts of the workspace, with their states. They are read as often as they are evaluated. */
export function AlertsPage() {
  return (
    <List
      caption="Alerts"
      query={useQuery({ ...alerts.list(), refetchInterval: 60_000 })}
      rows={(all) => all}
      rowKey={({ alertId }) => alertId}
      columns={columns}
      actions={(alert) => (
        <RowMenu
          name={alert.name}
          actions={[
            ['Edit and preview', () => openDialog(<AlertForm alert={alert} />)],
            ['Delete', () => openDialog(<DeleteAlert alert={alert} />), 'bad'],
          ]}
        />
      )}
      intro="Evaluated once a minute."
      add={<Button onClick={() => openDialog(<AlertForm alert={null} />)}>Add alert</Button>}
      empty={{
        icon: 'warning',
        title: 'No alerts yet',
        text: 'An alert watches failures, calls, latency, cost, the quota or the queue, and notifies endpoints when it fires and clears.',
      }}
    />
  );
}

function DeleteAlert({ alert }: { readonly alert: Alert }) {
  return (
    <ConfirmDialog
      title={`Delete ${alert.name}?`}
      confirm="Delete"
      action={alerts.remove(alert.alertId)}
    >
      It is no longer evaluated, and sends nothing more. This cannot be undone.
    </ConfirmDialog>
  );
}

const tones = { ok: 'good', firing: 'bad', no_data: 'plain' } as const;

const columns: readonly Column<Alert>[] = [
  {
    header: 'Name',
    cell: ({ name }) => (
      <span className="name wide-text" dir="auto">
        {name}
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ state, stateSince }) => (
      <>
        <StateBadge tone={tones[state]} text={state.replace('_', ' ')} />
        <div className="note">
          <Time at={stateSince} relative />
        </div>
      </>
    ),
  },
  { header: 'Value', hideBelow: 'sm', cell: ({ metric, value }) => formatValue(metric, value) },
  {
    header: 'Fires if',
    hideBelow: 'sm',
    cell: ({ metric, threshold, windowMinutes }) => (
      <>
        {metricTexts[metric].label} above {formatValue(metric, threshold)}
        {!metricTexts[metric].isCurrent && (
          <div className="note">in {windowMinutes.toLocaleString()} min</div>
        )}
      </>
    ),
  },
];
