import { Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { PromptVersion } from '../../../src/client/index.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import list from '../../components/list.module.css';
import { TemplateDiff } from '../../components/versions/template-diff.tsx';
import { useVersionColumns } from '../../components/versions/version-columns.tsx';
import { VersionList } from '../../components/versions/version-list.tsx';
import { versionQuery, versionsQuery } from '../../data/prompts/prompts.ts';

const route = getRouteApi('/app/prompts/$promptId/versions');

export function VersionsPage() {
  const { promptId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useInfiniteQuery(versionsQuery(promptId));
  const columns = useVersionColumns<
    Omit<PromptVersion, 'system' | 'user' | 'warnings' | 'responseFormat' | 'variableSchemas'>
  >({
    label: ({ promptVersionLabel }) => promptVersionLabel,
    extraColumn: {
      key: 'model',
      header: 'Model',
      hideBelow: 'md',
      cell: ({ model }) => <span className={list.code}>{model ?? '–'}</span>,
    },
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
          search={{ left: promptVersionId }}
          aria-label={`Run ${label}`}
        >
          Run
        </Link>
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
    <VersionList
      query={versions}
      columns={columns}
      nameOf={({ promptVersionId: id, promptVersionLabel: label }) => ({ id, label })}
      search={search}
      onCompare={(both) => void navigate({ search: both, replace: true, resetScroll: false })}
      comparison={(before, after) => (
        <Comparison promptId={promptId} before={before} after={after} />
      )}
    />
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
