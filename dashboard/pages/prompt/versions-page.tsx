import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { versionQuery, versionsQuery } from '../../data/prompts.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { NotRenewed } from '../../parts/not-renewed.tsx';
import { TemplateDiff } from '../../parts/template-diff.tsx';
import type { VersionsSearch } from './route.ts';
import { useVersionColumns } from './version-columns.tsx';
import classes from './versions.module.css';

const route = getRouteApi('/app/prompts/$promptId/versions');

export function VersionsPage() {
  const { promptId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useInfiniteQuery(versionsQuery(promptId));
  const columns = useVersionColumns(promptId);
  if (versions.isError && !versions.data) {
    return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  }
  if (versions.data?.length === 0) {
    return (
      <EmptyState icon="prompts" title="No versions yet">
        Write the first one in the editor. Each time it is saved, a version is added that never
        changes.
      </EmptyState>
    );
  }
  const [latest, former] = versions.data ?? [];
  const after = search.after ?? latest?.promptVersionId;
  const before = search.before ?? former?.promptVersionId;
  const choose = (change: VersionsSearch) =>
    void navigate({ search: { ...search, ...change }, replace: true, resetScroll: false });
  const options = (versions.data ?? []).map(({ promptVersionId, promptVersionLabel }) => ({
    value: promptVersionId,
    label: promptVersionLabel,
  }));
  return (
    <div className={classes.page}>
      <div>
        <NotRenewed query={versions} />
        <DataTable
          caption="Versions"
          columns={columns}
          rows={versions.data}
          rowKey={({ promptVersionId }) => promptVersionId}
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
          <Comparison promptId={promptId} before={before} after={after} />
        </Card>
      )}
    </div>
  );
}

function Comparison(props: {
  readonly promptId: string;
  readonly before: string;
  readonly after: string;
}) {
  const before = useQuery(versionQuery(props.promptId, props.before));
  const after = useQuery(versionQuery(props.promptId, props.after));
  const error = before.error ?? after.error;
  if (error) return <ErrorState error={error} />;
  if (!before.data || !after.data) return <Skeleton height={200} />;
  return <TemplateDiff before={before.data} after={after.data} />;
}
