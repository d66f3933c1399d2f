import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import { Pager } from '../../components/tables/pager.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { type AgentRow, columns, rowsOf } from './agent-columns.tsx';
import { AgentFilters } from './agent-filters.tsx';
import { AgentRowMenu } from './agent-row-menu.tsx';
import type { AgentsSearch } from './search.ts';

const pageSize = 20;

const actions: Column<AgentRow> = {
  header: 'Actions',
  align: 'right',
  sticky: true,
  cell: ({ agent }) => <AgentRowMenu agent={agent} />,
};

export function AgentsPage() {
  const [filters, change, clear] = useFilters<AgentsSearch>();
  const agents = useQuery(agentsQuery({ ...filters, limit: pageSize }));
  useLastPage(agents.data?.pagination, agents.data?.agents.length);
  const me = useMe();
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHeader
        title="Agents"
        description="An agent is a pinned prompt version that programs call through the API. Metrics cover the last 24 hours."
        actions={can(me, 'edit') && <NewAgent />}
      />
      <AgentFilters filters={filters} onChange={change} />
      <StaleNotice query={agents} />
      {agents.isError && !agents.data ? (
        <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />
      ) : agents.data?.agents.length === 0 ? (
        <NoAgents filtered={filtered} canEdit={can(me, 'edit')} onClear={clear} />
      ) : (
        <>
          <DataTable
            caption="Agents"
            columns={can(me, 'edit') ? [...columns, actions] : columns}
            rows={agents.data && rowsOf(agents.data.agents)}
            rowKey={({ agent }) => agent.agentId}
            stale={agents.isPlaceholderData}
          />
          {agents.data && (
            <Pager
              pagination={agents.data.pagination}
              count={agents.data.agents.length}
              onOffset={(offset) => change({ offset })}
            />
          )}
        </>
      )}
    </>
  );
}

function NewAgent() {
  return (
    <Button component={Link} to="/agents/new" leftSection={<Icon name="plus" size={14} />}>
      New agent
    </Button>
  );
}

function NoAgents({
  filtered,
  canEdit,
  onClear,
}: {
  readonly filtered: boolean;
  readonly canEdit: boolean;
  readonly onClear: () => void;
}) {
  if (!filtered) {
    return (
      <EmptyState icon="agents" title="No agents yet" action={canEdit && <NewAgent />}>
        An agent pins a prompt version and adds a model, variables and limits. Programs call it with
        an API key, and each call is recorded.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No matches"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      No agent matches these filters, or you do not have access to it.
    </EmptyState>
  );
}
