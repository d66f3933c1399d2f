import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFilters } from '../components/hooks/use-filters.ts';
import { useLastPage } from '../components/hooks/use-last-page.ts';
import type { IconName } from '../components/icon.tsx';
import { EmptyState } from '../components/states/empty-state.tsx';
import { ErrorState } from '../components/states/error-state.tsx';
import { StaleNotice } from '../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../components/tables/data-table.tsx';
import { Pager } from '../components/tables/pager.tsx';

/** What there is instead of an empty table: with an icon on a page of its own, a sentence in a card. */
interface Empty {
  readonly icon?: IconName;
  readonly title: string;
  readonly text: ReactNode;
  /** Default: `add`. */
  readonly action?: ReactNode;
}

interface Query<Data> {
  readonly data: Data | undefined;
  readonly isError: boolean;
  readonly isPlaceholderData: boolean;
  readonly error: unknown;
  refetch(): unknown;
}

interface Paged {
  readonly totalIsExact?: boolean;
  readonly pagination?: Parameters<typeof Pager>[0]['pagination'];
}

/** A list in its four states, with its actions and pages. The page is the search parameter `offset`. */
export function List<Data, Row>(props: {
  /** The accessible name of the table. */
  readonly caption: string;
  readonly query: Query<Data>;
  readonly rows: (data: Data) => readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** At the right edge of each row. */
  readonly actions?: ((row: Row) => ReactNode) | false;
  readonly empty: Empty | string | null;
  /** If the list is filtered: what else no match may mean, and how to see all. */
  readonly filtered?: { readonly text?: ReactNode; readonly onClear?: () => void } | false;
  /** Above the table, beside `add`. */
  readonly intro?: ReactNode;
  readonly add?: ReactNode;
  readonly loadingRows?: number;
}) {
  const { query, empty, filtered, intro, add, loadingRows = 2 } = props;
  const { data } = query;
  const rows = data && props.rows(data);
  const { pagination, totalIsExact = true } = (data ?? {}) as Paged;
  const [, change] = useFilters<{ readonly offset?: number }>();
  useLastPage(pagination, rows?.length);
  if (query.isError && !data)
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (rows?.length === 0 && !pagination?.offset) {
    if (filtered)
      return (
        <EmptyState
          icon="search"
          title="No matches"
          action={
            filtered.onClear && (
              <Button variant="default" onClick={filtered.onClear}>
                Clear filters
              </Button>
            )
          }
        >
          {filtered.text}
        </EmptyState>
      );
    if (empty === null) return null;
    if (typeof empty === 'string') return <p className="note">{empty}</p>;
    return (
      <EmptyState icon={empty.icon ?? 'empty'} title={empty.title} action={empty.action ?? add}>
        {empty.text}
      </EmptyState>
    );
  }
  return (
    <>
      {(intro || add) && (
        <Group justify="space-between" align="flex-end">
          <p className="note">{intro}</p>
          {add}
        </Group>
      )}
      <StaleNotice query={query} />
      <DataTable
        caption={props.caption}
        columns={props.columns}
        actions={props.actions}
        rows={rows}
        rowKey={props.rowKey}
        loadingRows={loadingRows}
        stale={query.isPlaceholderData}
      />
      {pagination && rows && (
        <Pager
          pagination={pagination}
          totalIsExact={totalIsExact}
          count={rows.length}
          onOffset={(offset) => change({ offset })}
        />
      )}
    </>
  );
}
