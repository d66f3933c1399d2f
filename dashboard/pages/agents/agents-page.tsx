import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { List } from '../../kit/list.tsx';
import { columns, rowsOf } from './agent-columns.tsx';
import { AgentFilters } from './agent-filters.tsx';
import { AgentRowMenu } from './agent-row-menu.tsx';
import type { AgentsSearch } from './search.ts';

const pageSize = 20;

export function AgentsPage() {
  const [filters, change, clear] = useFilters<AgentsSearch>();
  const agents = useQuery(agentsQuery({ ...filters, limit: pageSize }));
  const canEdit = can(useMe(), 'edit');
  return (
    <>
      <PageHeader
        title="Agents"
        description="An agent is a pinned prompt version that programs call through the API. Metrics cover the last 24 hours."
        actions={canEdit && <NewAgent />}
      />
      <AgentFilters filters={filters} onChange={change} />
      <List
        caption="Agents"
        query={agents}
        rows={(page) => rowsOf(page.agents)}
        rowKey={({ agent }) => agent.agentId}
        columns={columns}
        actions={canEdit && (({ agent }) => <AgentRowMenu agent={agent} />)}
        loadingRows={8}
        empty={{
          icon: 'agents',
          title: 'No agents yet',
          text: 'An agent pins a prompt version and adds a model, variables and limits. Programs call it with an API key, and each call is recorded.',
          action: canEdit && <NewAgent />,
        }}
        filtered={
          Object.keys(filters).length > 0 && {
            text: 'No agent matches these filters, or you do not have access to it.',
            onClear: clear,
          }
        }
      />
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
