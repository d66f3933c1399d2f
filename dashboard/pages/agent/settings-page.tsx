import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { taggedAgentQuery } from '../../data/agents.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { SettingsForm } from './settings-form.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** Everything that is set on the agent. The form begins anew only where that was asked for. */
export function SettingsPage() {
  const { agentId } = route.useParams();
  const tagged = useQuery(taggedAgentQuery(agentId));
  const [begun, beginAnew] = useState(0);
  if (tagged.isError && !tagged.data) {
    return <ErrorState error={tagged.error} onRetry={() => void tagged.refetch()} />;
  }
  if (!tagged.data) return <Skeleton height={640} />;
  const { agent, etag } = tagged.data;
  const reload = async () => {
    await tagged.refetch();
    beginAnew(begun + 1);
  };
  return (
    <SettingsForm
      key={`${agentId} ${begun}`}
      agent={agent}
      etag={etag}
      onReload={() => void reload()}
    />
  );
}
