import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Time } from '../../components/figures/time.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { StateBadge } from '../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import { PinButton } from '../../components/versions/pin-button.tsx';
import { useVersionColumns } from '../../components/versions/version-columns.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { pinsQuery } from '../../data/agents/pins.ts';
import { isNotFound } from '../../data/client/error-status.ts';
import { versionsQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { PinDialog } from './pin-dialog.tsx';
import classes from './pins.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** The pinned version, all versions of the prompt, and the history of pins. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one page: a table and the dialog of its row, in one piece of markup
export function PinsPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const versions = useInfiniteQuery(versionsQuery(agent.promptId));
  const pins = useQuery(pinsQuery(agentId));
  const nameOf = useMemberNames();
  const canEdit = can(useMe(), 'edit');
  const [versionToPin, setVersionToPin] = useState<string | null>(null);
  // Those who see an agent see its pinned version, but not always its prompt.
  const isPrivate = isNotFound(versions.error);
  const pinned = <StateBadge tone="good" text="pinned" />;
  const pinButton = (id: string, label: string) =>
    id !== agent.promptVersionId &&
    canEdit &&
    !isPrivate && (
      <PinButton
        version={{ id, label }}
        pinnedId={agent.promptVersionId}
        onClick={() => setVersionToPin(id)}
      />
    );

  type Version = NonNullable<typeof versions.data>[number];
  const versionColumns = useVersionColumns<Version>({
    label: ({ promptVersionId, promptVersionLabel: label }) => (
      <>
        {label} {promptVersionId === agent.promptVersionId && pinned}
      </>
    ),
    actions: ({ promptVersionId, promptVersionLabel: label }) => pinButton(promptVersionId, label),
  });
  type Pin = NonNullable<typeof pins.data>['pins'][number];
  const pinColumns: readonly Column<Pin>[] = [
    {
      header: 'Version',
      cell: ({ promptVersionLabel }) => <bdi className="code">{promptVersionLabel}</bdi>,
    },
    { header: 'From', cell: ({ pinnedAt }) => <Time at={pinnedAt} relative /> },
    {
      header: 'By',
      hideBelow: 'sm',
      cell: ({ pinnedBy }) => <bdi>{nameOf(pinnedBy)}</bdi>,
    },
    {
      header: 'Actions',
      align: 'right',
      cell: ({ promptVersionId, promptVersionLabel: label }) => pinButton(promptVersionId, label),
    },
  ];
  const failed = [...(isPrivate ? [] : [versions]), pins].find(
    ({ isError, data }) => isError && !data,
  );
  if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  return (
    <div className={classes.page}>
      <div>
        {!isPrivate && <StaleNotice query={versions} />}
        <div className={classes.head}>
          <h2>Versions of the prompt</h2>
          {!isPrivate && (
            <Link to="/prompts/$promptId" params={{ promptId: agent.promptId }}>
              Open prompt
            </Link>
          )}
        </div>
        {isPrivate ? (
          <p>The prompt is private: only its creator and workspace owners see its versions.</p>
        ) : (
          <DataTable
            caption="Versions of the prompt"
            columns={versionColumns}
            rows={versions.data}
            rowKey={({ promptVersionId }) => promptVersionId}
            loadingRows={3}
          />
        )}
        {versions.hasNextPage && (
          <Button mt="sm" variant="default" onClick={() => void versions.fetchNextPage()}>
            Show older versions
          </Button>
        )}
      </div>
      <div>
        <div className={classes.head}>
          <h2>Pin history</h2>
        </div>
        <StaleNotice query={pins} />
        <DataTable
          caption="Pin history"
          columns={pinColumns}
          rows={pins.data?.pins}
          rowKey={({ pinId }) => pinId}
          loadingRows={3}
        />
      </div>
      {versionToPin && (
        <PinDialog
          agent={agent}
          promptVersionId={versionToPin}
          onClose={() => setVersionToPin(null)}
        />
      )}
    </div>
  );
}
