import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Time } from '../../components/figures/time.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../components/tables/data-table.tsx';
import list from '../../components/tables/list.module.css';
import { Pager } from '../../components/tables/pager.tsx';
import { formatDuration } from '../../data/text/format.ts';
import { type WorkflowRunDetail, workflowRunsQuery } from '../../data/workflows/workflow-runs.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { RunBadge } from './runs/run-badges.tsx';
import { type RunsSearch, runStatuses } from './search.ts';
import classes from './workflow.module.css';

const route = getRouteApi('/app/workflows/$workflowId/runs');
const pageSize = 20;

/** The matching workflow runs, newest first; polled while visible. */
export function RunsPage() {
  const { workflowId } = route.useParams();
  const [filters, change] = useFilters<RunsSearch>();
  const runs = useQuery(workflowRunsQuery(workflowId, { ...filters, limit: pageSize }));
  useLastPage(runs.data?.pagination, runs.data?.runs.length);
  const nameOf = useMemberNames();
  const choose = (status: string) => change({ status: runStatuses.find((one) => one === status) });
  return (
    <>
      <search className={classes.filters}>
        <NativeSelect
          aria-label="Status"
          value={filters.status ?? ''}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
          data={[
            { value: '', label: 'All statuses' },
            ...runStatuses.map((value) => ({ value, label: value })),
          ]}
        />
      </search>
      <StaleNotice query={runs} />
      {runs.isError && !runs.data ? (
        <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />
      ) : runs.data?.runs.length === 0 ? (
        filters.status || filters.offset ? (
          <EmptyState
            icon="search"
            title="No matches"
            action={
              <Button variant="default" onClick={() => choose('')}>
                Clear filters
              </Button>
            }
          >
            No workflow run has this status, or its retention period has ended.
          </EmptyState>
        ) : (
          <EmptyState
            icon="workflows"
            title="No workflow runs yet"
            action={
              <Button
                component={Link}
                to="/workflows/$workflowId/run"
                params={{ workflowId } as never}
              >
                Run workflow
              </Button>
            }
          >
            Each workflow run is listed here, with the result of every step and links to the
            executions.
          </EmptyState>
        )
      ) : (
        <div className={classes.rows}>
          <DataTable
            caption="Workflow runs"
            columns={columnsOf(nameOf)}
            rows={runs.data?.runs}
            rowKey={({ workflowRunId }) => workflowRunId}
            stale={runs.isPlaceholderData}
          />
          {runs.data && (
            <Pager
              pagination={runs.data.pagination}
              totalIsExact={runs.data.totalIsExact}
              count={runs.data.runs.length}
              onOffset={(offset) => change({ offset })}
            />
          )}
        </div>
      )}
    </>
  );
}

type Run = Omit<WorkflowRunDetail, 'input' | 'output' | 'steps'>;

const columnsOf = (nameOf: (userId: string | null) => string): readonly Column<Run>[] => [
  {
    header: 'Started',
    cell: ({ workflowId, workflowRunId, executedAt }) => (
      <Link
        to="/workflows/$workflowId/runs/$workflowRunId"
        params={{ workflowId, workflowRunId }}
        className={list.name}
        data-row-link
      >
        <Time at={executedAt} />
      </Link>
    ),
  },
  {
    header: 'Status',
    cell: ({ status, failedStep }) => (
      <>
        <RunBadge status={status} />
        {failedStep && <div className={classes.error}>in {failedStep}</div>}
      </>
    ),
  },
  { header: 'Trigger', hideBelow: 'sm', cell: ({ trigger }) => trigger },
  {
    header: 'On behalf of',
    hideBelow: 'md',
    cell: ({ executedBy }) => nameOf(executedBy ?? null),
  },
  {
    header: 'Version',
    hideBelow: 'sm',
    cell: ({ workflowVersionLabel }) => <span className={list.code}>{workflowVersionLabel}</span>,
  },
  {
    header: 'Duration',
    align: 'right',
    cell: ({ executedAt, completedAt }) =>
      completedAt ? (
        formatDuration(Date.parse(completedAt) - Date.parse(executedAt))
      ) : (
        <span className={list.muted}>–</span>
      ),
  },
];
