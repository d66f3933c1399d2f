import { Button, NativeSelect } from '@mantine/core';
import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { may, useMe } from '../../data/me.ts';
import { useMemberNames } from '../../data/member-names.ts';
import { workflowQuery, workflowVersionsQuery } from '../../data/workflows.ts';
import { Card } from '../../parts/card.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { DefinitionDiff } from './definition-diff.tsx';
import { PinDialog } from './pin-dialog.tsx';
import type { VersionsSearch } from './route.ts';
import classes from './versions.module.css';

const route = getRouteApi('/app/workflows/$workflowId/versions');

export function VersionsPage() {
  const { workflowId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const versions = useInfiniteQuery(workflowVersionsQuery(workflowId));
  const nameOf = useMemberNames();
  const mayEdit = may(useMe(), 'edit');
  const [asked, setAsked] = useState<string | null>(null);
  if (versions.isError) {
    return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  }
  const [latest, former] = versions.data ?? [];
  const after = search.after ?? latest?.workflowVersionId;
  const before = search.before ?? former?.workflowVersionId;
  const choose = (change: VersionsSearch) =>
    void navigate({ search: { ...search, ...change }, replace: true, resetScroll: false });
  const options = (versions.data ?? []).map(({ workflowVersionId, workflowVersionLabel }) => ({
    value: workflowVersionId,
    label: workflowVersionLabel,
  }));

  type Version = NonNullable<typeof versions.data>[number];
  const columns: readonly Column<Version>[] = [
    {
      key: 'version',
      header: 'Version',
      cell: ({ workflowVersionId, workflowVersionLabel, notes }) => (
        <>
          <div className={classes.label}>
            {workflowVersionLabel}{' '}
            {workflowVersionId === workflow.workflowVersionId && (
              <StateBadge tone="good" text="pinned" />
            )}
          </div>
          {notes && <div className={classes.notes}>{notes}</div>}
        </>
      ),
    },
    { key: 'steps', header: 'Steps', from: 'md', cell: ({ stepCount }) => stepCount },
    { key: 'by', header: 'By', from: 'sm', cell: ({ createdBy }) => nameOf(createdBy) },
    {
      key: 'saved',
      header: 'Saved',
      from: 'sm',
      cell: ({ createdAt }) => <Time at={createdAt} since />,
    },
    {
      key: 'ways',
      header: 'Go on with it',
      align: 'right',
      cell: ({ workflowVersionId, workflowVersionLabel: label }) => (
        <span className={classes.ways}>
          <Link
            to="/workflows/$workflowId/definition"
            params={{ workflowId }}
            search={{ from: workflowVersionId }}
            aria-label={`${mayEdit ? 'Edit' : 'Read'} ${label}`}
          >
            {mayEdit ? 'Edit' : 'Read'}
          </Link>
          {mayEdit && workflowVersionId !== workflow.workflowVersionId && (
            <Button
              size="xs"
              variant="default"
              aria-label={`Pin ${label}`}
              onClick={() => setAsked(workflowVersionId)}
            >
              Pin
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <div className={classes.page}>
      <div>
        <DataTable
          caption="Versions"
          columns={columns}
          rows={versions.data}
          rowKey={({ workflowVersionId }) => workflowVersionId}
          loadingRows={3}
        />
        {versions.hasNextPage && (
          <Button
            mt="sm"
            variant="default"
            loading={versions.isFetchingNextPage}
            onClick={() => void versions.fetchNextPage()}
          >
            Show older versions
          </Button>
        )}
      </div>
      {before && after && (
        <Card
          title="Compare"
          actions={
            <div className={classes.choice}>
              <NativeSelect
                size="xs"
                aria-label="Version before"
                data={options}
                value={before}
                onChange={({ currentTarget }) => choose({ before: currentTarget.value })}
              />
              <span>with</span>
              <NativeSelect
                size="xs"
                aria-label="Version after"
                data={options}
                value={after}
                onChange={({ currentTarget }) => choose({ after: currentTarget.value })}
              />
            </div>
          }
        >
          <DefinitionDiff workflowId={workflowId} before={before} after={after} />
        </Card>
      )}
      {asked && (
        <PinDialog workflow={workflow} workflowVersionId={asked} onClose={() => setAsked(null)} />
      )}
    </div>
  );
}
