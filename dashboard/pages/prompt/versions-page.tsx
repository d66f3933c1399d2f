import { UnstyledButton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { PromptVersion } from '../../../src/client/index.ts';
import { EmptyState } from '../../components/states/empty-state.tsx';
import list from '../../components/tables/list.module.css';
import { useVersionColumns } from '../../components/versions/version-columns.tsx';
import { VersionDiff } from '../../components/versions/version-diff.tsx';
import { VersionList } from '../../components/versions/version-list.tsx';
import { versionsQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { agentsOfPromptQuery, LiveIn, PinToButton } from './pin-to.tsx';
import { VersionAgentsDialog } from './version-agents.tsx';

const route = getRouteApi('/app/prompts/$promptId/versions');

export function VersionsPage() {
  const { promptId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useInfiniteQuery(versionsQuery(promptId));
  const agents = useQuery(agentsOfPromptQuery(promptId));
  const liveIn = Map.groupBy(agents.data?.agents ?? [], (agent) => agent.promptVersionId);
  const canEdit = can(useMe(), 'edit');
  const [agentsOf, setAgentsOf] = useState<{ id: string; label: string } | null>(null);
  const columns = useVersionColumns<
    Omit<PromptVersion, 'system' | 'user' | 'warnings' | 'responseFormat' | 'variableSchemas'>
  >({
    label: ({ promptVersionLabel }) => promptVersionLabel,
    extraColumns: [
      {
        header: 'Live in',
        cell: ({ promptVersionId }) => <LiveIn agents={liveIn.get(promptVersionId) ?? []} />,
      },
      {
        header: 'Model',
        hideBelow: 'md',
        cell: ({ model }) => <span className="code">{model ?? '–'}</span>,
      },
    ],
    actions: ({ promptVersionId, promptVersionLabel: label }) => (
      <>
        <Link
          to="/prompts/$promptId"
          params={{ promptId }}
          search={{ from: promptVersionId }}
          aria-label={`Edit ${label}`}
        >
          Edit
        </Link>
        <Link
          to="/prompts/$promptId/playground"
          params={{ promptId }}
          search={{ versions: promptVersionId }}
          aria-label={`Run ${label}`}
        >
          Run
        </Link>
        {canEdit && <PinToButton promptId={promptId} version={{ id: promptVersionId, label }} />}
        <UnstyledButton
          className={list.link}
          aria-label={`Agents of ${label}`}
          onClick={() => setAgentsOf({ id: promptVersionId, label })}
        >
          Agents
        </UnstyledButton>
      </>
    ),
  });
  if (versions.data?.length === 0) {
    return (
      <EmptyState icon="prompts" title="No versions yet">
        Write the first one in the editor. Each save adds an immutable version.
      </EmptyState>
    );
  }
  return (
    <>
      <VersionList
        query={versions}
        columns={columns}
        nameOf={nameOf}
        search={search}
        onCompare={(both) => void navigate({ search: both, replace: true, resetScroll: false })}
        comparison={(before, after) => (
          <VersionDiff promptId={promptId} before={before} after={after} />
        )}
      />
      {agentsOf && (
        <VersionAgentsDialog
          key={agentsOf.id}
          promptId={promptId}
          version={agentsOf}
          versions={(versions.data ?? []).map(nameOf)}
          onClose={() => setAgentsOf(null)}
        />
      )}
    </>
  );
}

function nameOf({
  promptVersionId: id,
  promptVersionLabel: label,
}: Pick<PromptVersion, 'promptVersionId' | 'promptVersionLabel'>) {
  return { id, label };
}
