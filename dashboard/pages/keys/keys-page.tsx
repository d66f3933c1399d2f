import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { Pager } from '../../components/tables/pager.tsx';
import { keysQuery } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { CreateKeyButton } from './create-key-button.tsx';
import { KeyDialog, type KeyDialogState } from './key-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import type { KeysSearch } from './route.ts';

const pageSize = 25;

export function KeysPage() {
  const [{ offset = 0 }, change] = useFilters<KeysSearch>();
  const keys = useQuery(keysQuery({ limit: pageSize, offset }));
  const [dialog, setDialog] = useState<KeyDialogState | null>(null);
  const issue = can(useMe(), 'edit') && <CreateKeyButton onClick={() => setDialog('new')} />;
  const { data } = keys;
  useLastPage(data?.pagination, data?.keys.length);
  return (
    <>
      <PageHeader
        title="API keys"
        description="Programs authenticate with an API key. A key never has more rights than the user who created it."
        actions={issue}
      />
      <StaleNotice query={keys} />
      {keys.isError && !data ? (
        <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
      ) : data?.pagination.total === 0 ? (
        <EmptyState icon="keys" title="No keys yet" action={issue}>
          With a key, a program can execute agents, read and cancel executions, or manage resources,
          for the whole workspace or for selected agents.
        </EmptyState>
      ) : (
        <>
          <KeyTable keys={data?.keys} stale={keys.isPlaceholderData} onRotate={setDialog} />
          {data && (
            <Pager
              pagination={data.pagination}
              count={data.keys.length}
              onOffset={(to) => change({ offset: to })}
            />
          )}
        </>
      )}
      <KeyDialog dialog={dialog} onClose={() => setDialog(null)} />
    </>
  );
}
