import { Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ErrorState } from '../../components/states/error-state.tsx';
import { taggedAgentQuery } from '../../data/agents/agents.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { type SettingsDraft, SettingsForm } from './settings/settings-form.tsx';

const route = getRouteApi('/app/agents/$agentId');

/** All settings of the agent. Unsaved changes stay in session storage until saved or discarded. */
export function SettingsPage() {
  const { agentId } = route.useParams();
  return <Settings key={agentId} agentId={agentId} />;
}

function Settings({ agentId }: { readonly agentId: string }) {
  const canEdit = can(useMe(), 'edit');
  const tagged = useQuery(taggedAgentQuery(agentId));
  const [draft, store, discard] = useSessionStorage<SettingsDraft | null>({
    key: `cueline-settings-${agentId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const [revision, setRevision] = useState(0);
  if (tagged.isError && !tagged.data) {
    return <ErrorState error={tagged.error} onRetry={() => void tagged.refetch()} />;
  }
  if (!tagged.data) return <Skeleton height={640} />;
  const { agent, etag } = tagged.data;
  const reload = async () => {
    await tagged.refetch();
    discard();
    setRevision(revision + 1);
  };
  return (
    <SettingsForm
      key={revision}
      agent={agent}
      etag={etag}
      // A draft from when the user could edit would look like the agent's current values.
      draft={canEdit ? draft : null}
      onStore={store}
      onDiscard={discard}
      onReload={() => void reload()}
    />
  );
}
