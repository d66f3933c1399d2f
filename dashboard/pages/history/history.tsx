import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ExecutionFilters, ExecutionPage } from '../../../src/client/index.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Pager } from '../../components/pager.tsx';
import { StaleNotice } from '../../components/stale-notice.tsx';
import { Time } from '../../components/time.tsx';
import { historyQuery } from '../../data/executions/executions.ts';
import { ColumnMenu } from './column-menu.tsx';
import { useColumns } from './columns.tsx';
import { ExportMenu } from './export-menu.tsx';
import classes from './history.module.css';
import { HistoryFilters } from './history-filters.tsx';
import { type HistorySearch, isFiltered, scansRecords } from './search.ts';

const pageSize = 25;

/** The matching executions, newest first. The first page updates while it is open. */
export function History({ agentId }: { readonly agentId?: string }) {
  const [search, change, clear] = useFilters<HistorySearch>();
  const { shown, showsBodies, ...choice } = useColumns(agentId);
  const { offset, cursor, ...filters } = search;
  const isFirst = offset === undefined && cursor === undefined;
  // Filters that scan records are too expensive to poll.
  const live = isFirst && !scansRecords(search);
  // Executions in progress have no final status. Later pages include them too, so that pages join without gaps.
  const processing = filters.status === undefined ? ({ include: 'processing' } as const) : {};
  const short = showsBodies ? {} : ({ omit: 'bodies' } as const);
  const start = cursor === undefined ? { offset: offset ?? 0 } : { cursor };
  const query = { ...filters, ...processing, ...short, ...start, limit: pageSize };
  const history = useQuery(historyQuery(agentId, query, live));
  const { data } = history;
  const continues = data?.nextCursor !== undefined && (cursor ?? data.searchedTo) !== undefined;
  useLastPage(data?.pagination, continues ? undefined : data?.executions.length);
  return (
    <>
      <HistoryFilters search={search} agentId={agentId} onChange={change} onClear={clear} />
      <div className={classes.bar}>
        <span role="status">{data && countText(data, search)}</span>
        <ColumnMenu {...choice} />
        <ExportMenu agentId={agentId} filters={filters as ExecutionFilters} />
      </div>
      <StaleNotice query={history} />
      {history.isError && !data ? (
        <ErrorState error={history.error} onRetry={() => void history.refetch()} />
      ) : data?.executions.length === 0 && !continues ? (
        <NoExecutions filtered={isFiltered(search) || !isFirst} onClear={clear} />
      ) : (
        <div className={classes.rows}>
          <DataTable
            caption="Executions"
            columns={shown}
            rows={data?.executions}
            rowKey={({ executionId }) => executionId}
            stale={history.isPlaceholderData}
          />
          {data &&
            (continues ? (
              <SearchFurther page={data} onContinue={(next) => change({ cursor: next })} />
            ) : (
              cursor === undefined && (
                <Pager
                  pagination={data.pagination}
                  count={data.executions.length}
                  totalIsExact={!data.totalIsLowerBound}
                  onOffset={(to) => change({ offset: to })}
                />
              )
            ))}
        </div>
      )}
    </>
  );
}

function countText(
  { pagination, totalIsLowerBound }: ExecutionPage,
  search: HistorySearch,
): string {
  const { total } = pagination;
  const count = total === 1 ? '1 execution' : `${total.toLocaleString()} executions`;
  const bounded = totalIsLowerBound ? `At least ${count}` : count;
  if (!isFiltered(search)) return bounded;
  return `${bounded} ${total === 1 ? 'matches' : 'match'}`;
}

/** After a page that took too long to fill: how far it searched, and a way to go on. */
function SearchFurther(props: {
  readonly page: ExecutionPage;
  readonly onContinue: (cursor: string | undefined) => void;
}) {
  const { searchedTo, nextCursor } = props.page;
  return (
    <div className={classes.actions}>
      {searchedTo && (
        <span>
          Searched back to <Time at={searchedTo} />.
        </span>
      )}
      <Button variant="default" onClick={() => props.onContinue(nextCursor)}>
        Search older executions
      </Button>
    </div>
  );
}

function NoExecutions({
  filtered,
  onClear,
}: {
  readonly filtered: boolean;
  readonly onClear: () => void;
}) {
  if (!filtered) {
    return (
      <EmptyState icon="history" title="No executions yet">
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
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      No execution matches these filters, or its retention period has ended.
    </EmptyState>
  );
}
