import { getRouteApi } from '@tanstack/react-router';
import { History } from './list/history-list.tsx';

const route = getRouteApi('/app/agents/$agentId');

export function AgentHistoryPage() {
  const { agentId } = route.useParams();
  return <History agentId={agentId} />;
}
