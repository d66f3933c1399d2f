import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { taggedAgentQuery } from '../../data/agents.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { SettingsForm } from './settings-form.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** Everything that is set on the agent. The form begins anew with each state of the agent that was read. */
export function SettingsPage() {
  const { agentId } = route.useParams();
  const tagged = useQuery(taggedAgentQuery(agentId));
  if (tagged.isError && !tagged.data) {
    return <ErrorState error={tagged.error} onRetry={() => void tagged.refetch()} />;
  }
  if (!tagged.data) return <Skeleton height={640} />;
  const { agent, etag } = tagged.data;
  const reload = () => void tagged.refetch();
  return <SettingsForm key={etag} agent={agent} etag={etag} onReload={reload} />;
}
