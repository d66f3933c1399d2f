import { useQuery } from '@tanstack/react-query';
import { keysQuery } from '../../data/keys.ts';
import { may, useMe } from '../../data/me.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { IssueKey } from './issue-key.tsx';
import { KeyTable } from './key-table.tsx';
import type { KeysSearch } from './route.ts';

const pageSize = 25;

export function KeysPage() {
  const [{ offset = 0 }, change] = useFilters<KeysSearch>();
  const keys = useQuery(keysQuery({ limit: pageSize, offset }));
  const mayIssue = may(useMe(), 'edit');
  const { data } = keys;
  return (
    <>
      <PageHeader
        title="API keys"
        description="What programs show when they call. A key does no more than the person who issued it may do."
        actions={mayIssue && <IssueKey />}
      />
      {keys.isError && !data ? (
        <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
      ) : data?.pagination.total === 0 ? (
        <EmptyState icon="keys" title="No keys yet" action={mayIssue && <IssueKey />}>
          A key lets a program execute agents, read their history, cancel runs or manage what is
          here, for the whole workspace or for some agents only.
        </EmptyState>
      ) : (
        <>
          <KeyTable keys={data?.keys} stale={keys.isPlaceholderData} />
          {data && (
            <Pager
              pagination={data.pagination}
              count={data.keys.length}
              onOffset={(to) => change({ offset: to })}
            />
          )}
        </>
      )}
    </>
  );
}
