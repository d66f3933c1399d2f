import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { agentQuery } from '../../data/agents.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { StageBadge } from '../../parts/state-badge.tsx';
import tabs from '../../parts/tabs.module.css';
import classes from './agent.module.css';
import { areas } from './areas.ts';

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
        description={
          <>
            {agent.description && <div>{agent.description}</div>}
            <div className={classes.id}>
              <code>{agentId}</code>
              <CopyButton text={agentId} what="the agent's identifier" />
            </div>
          </>
        }
      />
      {areas.length > 1 && (
        <nav className={tabs.tabs} aria-label="Areas of the agent">
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
        </nav>
      )}
      <Outlet />
    </>
  );
}
