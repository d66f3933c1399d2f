import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { PinButton } from '../../components/versions/pin-button.tsx';
import { useVersionColumns } from '../../components/versions/version-columns.tsx';
import { VersionList } from '../../components/versions/version-list.tsx';
import {
  type WorkflowVersionSummary,
  workflowQuery,
  workflowVersionsQuery,
} from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { DefinitionDiff } from './definition/definition-diff.tsx';
import { PinDialog } from './definition/pin-dialog.tsx';

const route = getRouteApi('/app/workflows/$workflowId/versions');

export function VersionsPage() {
  const { workflowId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const versions = useInfiniteQuery(workflowVersionsQuery(workflowId));
  const canEdit = can(useMe(), 'edit');
  const [versionToPin, setVersionToPin] = useState<string | null>(null);
  const isPinned = ({ workflowVersionId }: WorkflowVersionSummary) =>
    workflowVersionId === workflow.workflowVersionId;
  const columns = useVersionColumns<WorkflowVersionSummary>({
    label: (version) => (
      <>
        {version.workflowVersionLabel}{' '}
        {isPinned(version) && <StateBadge tone="good" text="pinned" />}
      </>
    ),
    extraColumns: [
      {
        header: 'Steps',
        hideBelow: 'md',
        cell: ({ stepCount }) => stepCount,
      },
    ],
    actions: (version) => {
      const { workflowVersionId, workflowVersionLabel: label } = version;
      return (
        <>
          <Link
            to="/workflows/$workflowId/definition"
            params={{ workflowId }}
            search={{ from: workflowVersionId }}
            aria-label={`${canEdit ? 'Edit' : 'Read'} ${label}`}
          >
            {canEdit ? 'Edit' : 'Read'}
          </Link>
          {canEdit && !isPinned(version) && (
            <PinButton
              version={{ id: workflowVersionId, label }}
              pinnedId={workflow.workflowVersionId}
              onClick={() => setVersionToPin(workflowVersionId)}
            />
          )}
        </>
      );
    },
  });
  return (
    <>
      <VersionList
        query={versions}
        columns={columns}
        nameOf={({ workflowVersionId: id, workflowVersionLabel: label }) => ({ id, label })}
        search={search}
        onCompare={(both) => void navigate({ search: both, replace: true, resetScroll: false })}
        comparison={(before, after) => (
          <DefinitionDiff workflowId={workflowId} before={before} after={after} />
        )}
      />
      {versionToPin && (
        <PinDialog
          workflow={workflow}
          workflowVersionId={versionToPin}
          onClose={() => setVersionToPin(null)}
        />
      )}
    </>
  );
}
