import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Identifier } from '../../components/code/identifier.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tabs } from '../../components/layout/tabs.tsx';
import { StageBadge } from '../../components/states/state-badge.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { AgentActions } from './agent-actions.tsx';
import { areas } from './agent-tabs.ts';

const route = getRouteApi('/app/agents/$agentId');

export function AgentPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  return (
    <>
      <PageHeader
        parent={{ label: 'Agents', to: '/agents' }}
        title={agent.agentName}
        badge={
          <>
            <StageBadge agent={agent} />
            <Identifier id={agentId} name="agent ID" />
          </>
        }
        about={agent.description}
        actions={<AgentActions agent={agent} />}
      />
      {areas.length > 1 && (
        <Tabs label="Agent" page={agent.agentName}>
          {areas.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              params={{ agentId }}
              // Nested pages keep their tab active; every tab is nested below the overview.
              activeOptions={{ exact: to === '/agents/$agentId', includeSearch: false }}
            >
              {label}
            </Link>
          ))}
        </Tabs>
      )}
      <Outlet />
    </>
  );
}
