import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import columns from '../../components/layout/two-columns.module.css';
import { AgentRefusals } from '../../components/refusals.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { Activity } from './activity.tsx';
import { LifecycleCard } from './lifecycle/lifecycle-card.tsx';
import { SettingsSummary } from './settings-summary.tsx';

const route = getRouteApi('/app/agents/$agentId');

export function OverviewPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  // Before it is deployed, the next stage is what matters; afterwards, what it does.
  const isLive = agent.status === 'Deployed';
  return (
    <div className={columns.columns}>
      <div className={columns.main}>
        {!isLive && <LifecycleCard agent={agent} />}
        <Activity agentId={agentId} />
        <AgentRefusals agentId={agentId} />
        {isLive && <LifecycleCard agent={agent} />}
      </div>
      <aside className={columns.side} aria-label="Settings summary">
        <SettingsSummary agent={agent} />
      </aside>
    </div>
  );
}
