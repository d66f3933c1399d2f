import { Button, Group, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { ErrorState } from '../../components/states/error-state.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { StageBadge } from '../../components/states/state-badge.tsx';
import { VersionDiff } from '../../components/versions/version-diff.tsx';
import { agentsOfVersionQuery, usePinAll } from '../../data/agents/pin-all.ts';
import { announceSave } from '../../data/client/saves.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { Dialog, DialogCloseButton } from '../../kit/dialog.tsx';

interface Choice {
  readonly id: string;
  readonly label: string;
}

/** The agents that use a version, and the way to pin all of them to another one. */
export function VersionAgentsDialog(props: {
  readonly promptId: string;
  readonly version: Choice;
  /** Newest first. */
  readonly versions: readonly Choice[];
  readonly onClose: () => void;
}) {
  const { promptId, version, onClose } = props;
  const others = props.versions.filter(({ id }) => id !== version.id);
  const [chosen, setChosen] = useState('');
  const agents = useQuery(agentsOfVersionQuery(version.id));
  const pin = usePinAll();
  const canEdit = can(useMe(), 'edit');
  const using = agents.data ?? [];
  const label = others.find(({ id }) => id === chosen)?.label;
  const start = () =>
    pin.mutate(
      { agents: using, promptVersionId: chosen },
      {
        onSuccess: ({ pinned, failed }) => {
          announceSave(`Pinned ${label} for ${pinned.length.toLocaleString()} agents`);
          if (failed.length === 0) onClose();
        },
      },
    );
  return (
    <Dialog
      width="large"
      title={`Agents that use ${version.label}`}
      locked={pin.isPending}
      onClose={onClose}
    >
      <Stack gap="lg">
        <Failures result={pin.data} />
        {agents.data ? (
          <AgentList agents={using} />
        ) : agents.isError ? (
          <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />
        ) : (
          <Skeleton height={80} />
        )}
        {canEdit && using.length > 0 && others.length > 0 && (
          <NativeSelect
            label="Pin all to"
            value={chosen}
            data={[
              { value: '', label: 'Choose a version' },
              ...others.map(({ id, label }) => ({ value: id, label })),
            ]}
            disabled={pin.isPending}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          />
        )}
        {chosen && (
          <>
            <p>
              New calls will use the chosen version. Executions in progress keep theirs;
              identifiers, keys and settings stay.
            </p>
            <VersionDiff promptId={promptId} before={version.id} after={chosen} purpose="to pin" />
          </>
        )}
        {pin.isPending && (
          <p role="status">
            {pin.progress.toLocaleString()} of {using.length.toLocaleString()}
          </p>
        )}
        <FormError error={pin.error} />
        <Group justify="flex-end" gap="xs">
          <DialogCloseButton>Close</DialogCloseButton>
          {chosen && using.length > 0 && (
            <Button loading={pin.isPending} onClick={start}>
              Pin all to {label}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}

function AgentList({ agents }: { readonly agents: readonly Agent[] }) {
  if (agents.length === 0) return <p>No agent that you can see uses this version.</p>;
  return (
    <ul>
      {agents.map((agent) => (
        <li key={agent.agentId}>
          <Link to="/agents/$agentId" params={{ agentId: agent.agentId }}>
            <bdi>{agent.agentName}</bdi>
          </Link>{' '}
          <StageBadge agent={agent} />
        </li>
      ))}
    </ul>
  );
}

function Failures({ result }: { readonly result: ReturnType<typeof usePinAll>['data'] }) {
  if (!result || result.failed.length === 0) return null;
  const { pinned, failed } = result;
  return (
    <div role="alert">
      {failed.length.toLocaleString()} of {(pinned.length + failed.length).toLocaleString()} failed
      and keep their version:
      <ul>
        {failed.map(({ agent, message }) => (
          <li key={agent.agentId}>
            <bdi>{agent.agentName}</bdi>: {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
