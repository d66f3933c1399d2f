import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { EventEndpoint } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { endpoints } from '../../../data/workspace/endpoints.ts';
import { openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';

/** The endpoints that receive events, with their health. */
export function EndpointsPage() {
  return (
    <List
      caption="Endpoints"
      query={useQuery(endpoints.list())}
      rows={(all) => all}
      rowKey={({ endpointId }) => endpointId}
      columns={columns}
      intro="Events are signed as in Standard Webhooks."
      add={
        <Button onClick={() => openDialog(<EndpointForm endpoint={null} />)}>Add endpoint</Button>
      }
      empty={{
        icon: 'external',
        title: 'No endpoints yet',
        text: 'Endpoints receive signed events: finished executions and workflow runs, alerts, failing providers, the quota, and changes of agents and keys.',
      }}
    />
  );
}

const columns: readonly Column<EventEndpoint>[] = [
  {
    header: 'URL',
    cell: ({ endpointId, url, description }) => (
      <>
        <Link
          to="/settings/endpoints/$endpointId"
          params={{ endpointId }}
          data-row-link
          className="code"
        >
          {url ?? 'Pull endpoint'}
        </Link>
        {description && (
          <div className="note" dir="auto">
            {description}
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Events',
    hideBelow: 'sm',
    cell: ({ eventTypes: [first, ...others] }) => (
      <>
        <code className="code">{first}</code>
        {others.length > 0 && <div className="note">and {others.length} more</div>}
      </>
    ),
  },
  { header: 'Health', cell: (endpoint) => <EndpointHealth endpoint={endpoint} /> },
  {
    header: 'Last success',
    hideBelow: 'md',
    cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Time at={lastSuccessAt} relative /> : '–'),
  },
  {
    header: 'Pending',
    align: 'right',
    hideBelow: 'md',
    cell: ({ pending }) => pending.toLocaleString(),
  },
];
