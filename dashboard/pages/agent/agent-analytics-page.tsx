import { getRouteApi } from '@tanstack/react-router';
import { Analytics } from '../../components/analytics/analytics.tsx';

const route = getRouteApi('/app/agents/$agentId');

export function AgentAnalyticsPage() {
  const { agentId } = route.useParams();
  return <Analytics agentId={agentId} />;
}
