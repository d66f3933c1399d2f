import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Identifier } from '../../components/identifier.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { StageBadge } from '../../components/state-badge.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
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
        badge={<StageBadge agent={agent} />}
        about={agent.description}
        description={<Identifier id={agentId} what="the agent's identifier" />}
      />
      {areas.length > 1 && (
        <Tabs label="Areas of the agent">
          {areas.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              params={{ agentId }}
              // What opens over an area belongs to it; below the overview stand all the others.
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
