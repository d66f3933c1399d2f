import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Pager } from '../../components/pager.tsx';
import { StaleNotice } from '../../components/stale-notice.tsx';
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
  const { offset = 0, ...filters } = search;
  // Filters that scan records match only ended executions and are too expensive to poll.
  const live = offset === 0 && !scansRecords(search);
  // Executions in progress have no final status. Later pages include them too, so that pages join without gaps.
  const processing =
    filters.status === undefined && !scansRecords(search)
      ? ({ include: 'processing' } as const)
      : {};
  const short = showsBodies ? {} : ({ omit: 'bodies' } as const);
  const query = { ...filters, ...processing, ...short, offset, limit: pageSize };
  const history = useQuery(historyQuery(agentId, query, live));
  const { data } = history;
  useLastPage(data?.pagination, data?.executions.length);
  return (
    <>
      <HistoryFilters search={search} agentId={agentId} onChange={change} onClear={clear} />
      <div className={classes.bar}>
        <span role="status">{data && countText(data.pagination.total, search)}</span>
        <ColumnMenu {...choice} />
        <ExportMenu agentId={agentId} filters={filters as ExecutionFilters} />
      </div>
      <StaleNotice query={history} />
      {history.isError && !data ? (
        <HistoryFailed
          error={history.error}
          filtered={isFiltered(search)}
          onRetry={() => void history.refetch()}
          onLastWeek={() => change({ startDate: daysAgo(7), endDate: undefined })}
          onClear={clear}
        />
      ) : data?.executions.length === 0 ? (
        <NoExecutions filtered={isFiltered(search) || offset > 0} onClear={clear} />
      ) : (
        <div className={classes.rows}>
          <DataTable
            caption="Executions"
            columns={shown}
            rows={data?.executions}
            rowKey={({ executionId }) => executionId}
            stale={history.isPlaceholderData}
          />
          {data && (
            <Pager
              pagination={data.pagination}
              count={data.executions.length}
              onOffset={(to) => change({ offset: to })}
            />
          )}
        </div>
      )}
    </>
  );
}

function countText(total: number, search: HistorySearch): string {
  const count = total === 1 ? '1 execution' : `${total.toLocaleString()} executions`;
  if (!isFiltered(search)) return count;
  return `${count} ${total === 1 ? 'matches' : 'match'}`;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** The server's error, with ways to reduce the number of records to scan. */
function HistoryFailed(props: {
  readonly error: unknown;
  readonly filtered: boolean;
  readonly onRetry: () => void;
  readonly onLastWeek: () => void;
  readonly onClear: () => void;
}) {
  return (
    <>
      <ErrorState error={props.error} onRetry={props.onRetry} />
      {props.filtered && (
        <div className={classes.actions}>
          <Button variant="default" onClick={props.onLastWeek}>
            Last 7 days only
          </Button>
          <Button variant="default" onClick={props.onClear}>
            Clear filters
          </Button>
        </div>
      )}
    </>
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
