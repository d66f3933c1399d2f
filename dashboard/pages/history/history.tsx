import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Pager } from '../../components/pager.tsx';
import { NotRenewed } from '../../components/stale-notice.tsx';
import { historyQuery } from '../../data/executions/executions.ts';
import { ColumnMenu } from './column-menu.tsx';
import { useColumns } from './columns.tsx';
import { ExportMenu } from './export-menu.tsx';
import classes from './history.module.css';
import { HistoryFilters } from './history-filters.tsx';
import { type HistorySearch, isFiltered, readsRecords } from './search.ts';

const pageSize = 25;

/** The runs that match, newest first; the first page follows what happens. */
export function History({ agentId }: { readonly agentId?: string }) {
  const [search, change, clear] = useFilters<HistorySearch>();
  const { shown, showsBodies, ...choice } = useColumns(agentId);
  const { offset = 0, ...filters } = search;
  // Where records are read one by one, the server finds only those that have ended, and it is not asked again and again.
  const live = offset === 0 && !readsRecords(search);
  // Runs under way have no end status yet. They stay in on later pages, so that pages join without a gap.
  const processing =
    filters.status === undefined && !readsRecords(search)
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
        <span role="status">{data && matching(data.pagination.total, search)}</span>
        <ColumnMenu {...choice} />
        <ExportMenu agentId={agentId} filters={filters as ExecutionFilters} />
      </div>
      <NotRenewed query={history} />
      {history.isError && !data ? (
        <HistoryFailed
          error={history.error}
          filtered={isFiltered(search)}
          onRetry={() => void history.refetch()}
          onLastWeek={() => change({ startDate: daysAgo(7), endDate: undefined })}
          onClear={clear}
        />
      ) : data?.executions.length === 0 ? (
        <NoRuns filtered={isFiltered(search) || offset > 0} onClear={clear} />
      ) : (
        <div className={classes.rows}>
          <DataTable
            caption="Runs"
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

function matching(total: number, search: HistorySearch): string {
  const runs = total === 1 ? '1 run' : `${total.toLocaleString()} runs`;
  if (!isFiltered(search)) return runs;
  return `${runs} ${total === 1 ? 'matches' : 'match'}`;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** The server's own words; where there are too many records to read, a way to fewer of them. */
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
        <div className={classes.waysOut}>
          <Button variant="default" onClick={props.onLastWeek}>
            Only the last 7 days
          </Button>
          <Button variant="default" onClick={props.onClear}>
            Take the filters off
          </Button>
        </div>
      )}
    </>
  );
}

function NoRuns({
  filtered,
  onClear,
}: {
  readonly filtered: boolean;
  readonly onClear: () => void;
}) {
  if (!filtered) {
    return (
      <EmptyState icon="history" title="No runs yet">
        Every call of an agent leaves a record here, with its inputs, the prompts as they were sent,
        the output, and what it took.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="search"
      title="No run matches"
      action={
        <Button variant="default" onClick={onClear}>
          Take the filters off
        </Button>
      }
    >
      None has what is asked for, or retention has taken it.
    </EmptyState>
  );
}
