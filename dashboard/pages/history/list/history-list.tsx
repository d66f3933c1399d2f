import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ExecutionPage } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { useLastPage } from '../../../components/hooks/use-last-page.ts';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { DataTable } from '../../../components/tables/data-table.tsx';
import { Pager } from '../../../components/tables/pager.tsx';
import { useExecutionList } from '../../../data/executions/execution-list.ts';
import type { Execution } from '../../../data/executions/executions.ts';
import { FailureCodes } from '../filters/failure-codes.tsx';
import { FilterBar } from '../filters/filter-bar.tsx';
import { searchPattern } from '../highlight.tsx';
import classes from '../history.module.css';
import { type HistorySearch, isFiltered, scansRecords, writeSearch } from '../search.ts';
import { BulkActions } from './bulk-actions.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { columnsOf, useColumnChoice } from './columns.tsx';
import { ExecutionPanel, useOpenedExecution } from './execution-panel.tsx';
import { ExportMenu } from './export-menu.tsx';
import { exportFilters, filtersAt } from './list-filters.ts';
import { Totals } from './totals.tsx';
import { useListKeys } from './use-list-keys.tsx';
import { useSelection } from './use-selection.ts';

/** The matching executions, newest first, beside the one that is open. */
export function History({ agentId }: { readonly agentId?: string }) {
  const [search, change, clear] = useFilters<HistorySearch>();
  const { showsBodies, wanted, ...choice } = useColumnChoice();
  const list = useExecutionList({
    agentId,
    filtersAt: (loadedMs) => filtersAt(search, agentId, loadedMs),
    key: writeSearch(search),
    offset: search.offset ?? 0,
    scans: scansRecords(search),
    isSorted: search.sort !== undefined,
    // The words that were found are shown.
    withBodies: showsBodies || search.q !== undefined,
  });
  const { rows } = list;
  const { sort: _, ...filters } = list.filters;
  const selection = useSelection(rows);
  const opened = useOpenedExecution();
  const runAgain = useListKeys({ rows, selection });
  const pattern = searchPattern(search.q);
  const columns = columnsOf({
    ...{ agentId, wanted, times: choice.times, selection, pattern, sort: search.sort },
    onSort: (sort) =>
      change({ sort: sort === '-executedAt' ? undefined : sort, offset: undefined }),
  });
  const filterProps = { search, agentId, filters, onChange: change };
  return (
    <div className={classes.layout} data-full-width data-panel={opened !== null || undefined}>
      <section className={classes.list} aria-label="List">
        <FilterBar {...filterProps} onClear={clear} />
        <FailureCodes {...filterProps} />
        <div className={classes.bar}>
          {selection.rows.length > 0 ? (
            <BulkActions agentId={agentId} selection={selection} onDeleted={list.remove} />
          ) : (
            <>
              <span role="status">{countText(list, search)}</span>
              <Totals agentId={agentId} filters={filters} list={list} />
              <Group gap={6} ml="auto">
                <ColumnMenu {...choice} />
                <ExportMenu agentId={agentId} filters={exportFilters(filters)} />
              </Group>
            </>
          )}
        </div>
        <StaleNotice query={{ ...list.news.query, data: rows }} />
        <NewExecutions list={list} />
        <Rows
          agentId={agentId}
          list={list}
          columns={columns}
          search={search}
          clear={clear}
          openId={opened?.executionId}
        />
      </section>
      <ExecutionPanel rows={rows} onDeleted={(id) => list.remove([id])} />
      {runAgain}
    </div>
  );
}

type List = ReturnType<typeof useExecutionList>;

function Rows(props: {
  readonly agentId: string | undefined;
  readonly list: List;
  readonly columns: ReturnType<typeof columnsOf>;
  readonly search: HistorySearch;
  readonly clear: () => void;
  readonly openId: string | undefined;
}) {
  const { agentId, list, columns, search, clear, openId } = props;
  const { pages, rows } = list;
  const [, change] = useFilters<HistorySearch>();
  const last = pages.data?.pages.at(-1);
  const first = pages.data?.pages[0];
  const isSearch = last?.searchedTo !== undefined || (pages.data?.pages.length ?? 0) > 1;
  useLastPage(first?.pagination, isSearch ? undefined : first?.executions.length);
  if (pages.isError && !pages.data) {
    return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  }
  if (rows?.length === 0 && !isSearch) {
    return <NoExecutions agentId={agentId} filtered={isFiltered(search)} onClear={clear} />;
  }
  const rowProps = ({ executionId }: Execution) =>
    ({ 'data-open': executionId === openId || undefined }) as object;
  return (
    <>
      {(rows === undefined || rows.length > 0) && (
        <DataTable
          caption="Executions"
          columns={columns}
          rows={rows}
          rowKey={({ executionId }) => executionId}
          stale={pages.isPlaceholderData}
          stickyHeader
          rowProps={rowProps}
        />
      )}
      {first && isSearch && <SearchFurther pages={pages} />}
      {first && !isSearch && (
        <Pager
          pagination={reachable(first)}
          count={first.executions.length}
          totalIsExact={!first.totalIsLowerBound}
          onOffset={(offset) => change({ offset })}
        />
      )}
    </>
  );
}

/** Of more matches than are sorted, only those that were have a page. */
function reachable({ pagination, sortedOver }: ExecutionPage) {
  return {
    ...pagination,
    total: Math.min(pagination.total, sortedOver ?? Number.POSITIVE_INFINITY),
  };
}

/** Announces executions that the list does not show yet. Only pressing it moves the rows. */
function NewExecutions({ list }: { readonly list: List }) {
  const { count, isMore } = list.news;
  return (
    <div className={classes.news} role="status">
      {count > 0 && (
        <Button size="compact-sm" radius="xl" onClick={list.reload}>
          {count.toLocaleString()}
          {isMore ? '+' : ''} new
        </Button>
      )}
    </div>
  );
}

function countText({ pages, rows }: List, search: HistorySearch): string | undefined {
  const last = pages.data?.pages.at(-1);
  if (!last || !rows) return undefined;
  // A search that continues page by page counts its matches so far.
  const isPaged = (pages.data?.pages.length ?? 0) > 1;
  const total = isPaged ? rows.length : last.pagination.total;
  const isBound = isPaged ? pages.hasNextPage : last.totalIsLowerBound === true;
  const count = total === 1 ? '1 execution' : `${total.toLocaleString()} executions`;
  const bounded = isBound ? `At least ${count}` : count;
  if (!isFiltered(search)) return bounded;
  return `${bounded} ${total === 1 ? 'matches' : 'match'}`;
}

/** How far back a search has looked so far, and a button to continue it. New matches are added below. */
function SearchFurther({ pages }: { readonly pages: List['pages'] }) {
  const last = pages.data?.pages.at(-1);
  return (
    <div className={classes.actions} role="status">
      {last?.searchedTo && (
        <span>
          Searched back to <Time at={last.searchedTo} />.
        </span>
      )}
      {pages.hasNextPage ? (
        <Button
          variant="default"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Search further
        </Button>
      ) : (
        <span>Searched everything.</span>
      )}
      {pages.isFetchNextPageError && <span>The search failed. Try again.</span>}
    </div>
  );
}

function NoExecutions({
  agentId,
  filtered,
  onClear,
}: {
  readonly agentId: string | undefined;
  readonly filtered: boolean;
  readonly onClear: () => void;
}) {
  if (!filtered) {
    return (
      <EmptyState
        icon="history"
        title="No executions yet"
        action={
          <Button
            variant="default"
            renderRoot={(root: object) =>
              agentId === undefined ? (
                <Link {...root} to="/agents" />
              ) : (
                <Link {...root} to="/agents/$agentId/use" params={{ agentId }} />
              )
            }
          >
            {agentId === undefined ? 'Show agents' : 'Call this agent'}
          </Button>
        }
      >
        Each call of an agent is recorded here with its variables, prompts, output, latency and
        cost.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No matches"
      action={
        <Group>
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        </Group>
      }
    >
      No execution matches these filters, or its retention period has ended. You may not have access
      to its agent.
    </EmptyState>
  );
}
