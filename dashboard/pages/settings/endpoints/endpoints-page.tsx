import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventEndpoint } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { endpointsQuery } from '../../../data/workspace/endpoints.ts';
import classes from '../settings.module.css';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';

/** The endpoints that receive events, with their health. */
export function EndpointsPage() {
  const endpoints = useQuery(endpointsQuery);
  const [isCreating, setCreating] = useState(false);
  const add = <Button onClick={() => setCreating(true)}>Add endpoint</Button>;
  return (
    <>
      {endpoints.isError && !endpoints.data ? (
        <ErrorState error={endpoints.error} onRetry={() => void endpoints.refetch()} />
      ) : endpoints.data?.length === 0 ? (
        <EmptyState icon="external" title="No endpoints yet" action={add}>
          Endpoints receive signed events: finished executions and workflow runs, alerts, failing
          providers, the quota, and changes of agents and keys.
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" align="flex-end">
            <p className={classes.muted}>Events are signed as in Standard Webhooks.</p>
            {add}
          </Group>
          <div className={classes.rows}>
            <DataTable
              caption="Endpoints"
              columns={columns}
              rows={endpoints.data}
              rowKey={({ endpointId }) => endpointId}
              loadingRows={2}
            />
          </div>
        </>
      )}
      {isCreating && <EndpointForm endpoint={null} onClose={() => setCreating(false)} />}
    </>
  );
}

const columns: readonly Column<EventEndpoint>[] = [
  {
    key: 'url',
    header: 'URL',
    cell: ({ endpointId, url, description }) => (
      <>
        <Link
          to="/settings/endpoints/$endpointId"
          params={{ endpointId }}
          data-row-link
          className={classes.code}
        >
          {url ?? 'Pull endpoint'}
        </Link>
        {description && (
          <div className={classes.description} dir="auto">
            {description}
          </div>
        )}
      </>
    ),
  },
  {
    key: 'events',
    header: 'Events',
    hideBelow: 'sm',
    cell: ({ eventTypes: [first, ...others] }) => (
      <>
        <code className={classes.code}>{first}</code>
        {others.length > 0 && <div className={classes.muted}>and {others.length} more</div>}
      </>
    ),
  },
  {
    key: 'health',
    header: 'Health',
    cell: (endpoint) => <EndpointHealth endpoint={endpoint} />,
  },
  {
    key: 'success',
    header: 'Last success',
    hideBelow: 'md',
    cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Time at={lastSuccessAt} relative /> : '–'),
  },
  {
    key: 'pending',
    header: 'Pending',
    align: 'right',
    hideBelow: 'md',
    cell: ({ pending }) => pending.toLocaleString(),
  },
];
