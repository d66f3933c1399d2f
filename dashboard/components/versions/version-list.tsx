import { Button, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { VersionsSearch } from '../../data/prompts/versions-search.ts';
import { Card } from '../layout/card.tsx';
import { ErrorState } from '../states/error-state.tsx';
import { StaleNotice } from '../states/stale-notice.tsx';
import { type Column, DataTable } from '../tables/data-table.tsx';
import classes from './versions.module.css';

/** Lists the versions of a prompt or a workflow and compares two of them. */
export function VersionList<Version>(props: {
  readonly query: {
    readonly data: readonly Version[] | undefined;
    readonly error: unknown;
    readonly isError: boolean;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    refetch(): unknown;
    fetchNextPage(): unknown;
  };
  readonly columns: readonly Column<Version>[];
  readonly nameOf: (version: Version) => { readonly id: string; readonly label: string };
  readonly search: VersionsSearch;
  readonly onCompare: (search: VersionsSearch) => void;
  readonly comparison: (before: string, after: string) => ReactNode;
}) {
  const { query, columns, nameOf, search, comparison } = props;
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  }
  const known = (query.data ?? []).map(nameOf);
  const after = search.after ?? known[0]?.id;
  const before = search.before ?? known[1]?.id;
  const choose = (change: VersionsSearch) => props.onCompare({ ...search, ...change });
  // The URL can name versions that the list has not loaded.
  const older = [after, before].filter((id) => id && !known.some((one) => one.id === id));
  const options = [...known, ...[...new Set(older)].map((id = '') => ({ id, label: id }))].map(
    ({ id, label }) => ({ value: id, label }),
  );
  return (
    <div className="areas">
      <div>
        <StaleNotice query={query} />
        <DataTable
          caption="Versions"
          columns={columns}
          rows={query.data}
          rowKey={(version) => nameOf(version).id}
          loadingRows={3}
        />
        {query.hasNextPage && (
          <Button
            mt="sm"
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
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
                aria-label="Base version"
                data={options}
                value={before}
                onChange={({ currentTarget }) => choose({ before: currentTarget.value })}
              />
              <span>with</span>
              <NativeSelect
                size="xs"
                aria-label="Compared version"
                data={options}
                value={after}
                onChange={({ currentTarget }) => choose({ after: currentTarget.value })}
              />
            </div>
          }
        >
          {comparison(before, after)}
        </Card>
      )}
    </div>
  );
}
