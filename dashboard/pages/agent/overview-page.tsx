import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { agentQuery } from '../../data/agents.ts';
import { Activity } from './activity.tsx';
import classes from './agent.module.css';
import { LifecycleCard } from './lifecycle-card.tsx';
import { SettingsSummary } from './settings-summary.tsx';

const route = getRouteApi('/app/agents/$agentId');

export function OverviewPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  return (
    <div className={classes.columns}>
      <div className={classes.main}>
        <LifecycleCard agent={agent} />
        <Activity agentId={agentId} />
      </div>
      <aside className={classes.side} aria-label="Settings in short">
        <SettingsSummary agent={agent} />
      </aside>
    </div>
  );
}
