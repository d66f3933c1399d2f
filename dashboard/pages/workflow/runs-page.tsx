import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Time } from '../../components/figures/time.tsx';
import { useFilters } from '../../components/hooks/use-filters.ts';
import type { Column } from '../../components/tables/data-table.tsx';
import list from '../../components/tables/list.module.css';
import { formatDuration } from '../../data/text/format.ts';
import { type WorkflowRunDetail, workflowRunsQuery } from '../../data/workflows/workflow-runs.ts';
import { useMemberNames } from '../../data/workspace/member-names.ts';
import { List } from '../../kit/list.tsx';
import { RunBadge } from './runs/run-badges.tsx';
import { type RunsSearch, runStatuses } from './search.ts';
import classes from './workflow.module.css';

const route = getRouteApi('/app/workflows/$workflowId/runs');
const pageSize = 20;
const withFailedItems = 'failedItems';

/** The matching workflow runs, newest first; polled while visible. */
export function RunsPage() {
  const { workflowId } = route.useParams();
  const [filters, change] = useFilters<RunsSearch>();
  const runs = useQuery(workflowRunsQuery(workflowId, { ...filters, limit: pageSize }));
  const nameOf = useMemberNames();
  const choose = (value: string) =>
    change({
      status: runStatuses.find((one) => one === value),
      failedItems: value === withFailedItems ? 'true' : undefined,
    });
  return (
    <>
      <search className={classes.filters}>
        <NativeSelect
          aria-label="Status"
          value={filters.failedItems ? withFailedItems : (filters.status ?? '')}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
          data={[
            { value: '', label: 'All statuses' },
            ...runStatuses.map((value) => ({ value, label: value })),
            { value: withFailedItems, label: 'with failed items' },
          ]}
        />
      </search>
      <List
        caption="Workflow runs"
        query={runs}
        rows={(page) => page.runs}
        rowKey={({ workflowRunId }) => workflowRunId}
        columns={columnsOf(nameOf)}
        loadingRows={8}
        empty={{
          icon: 'workflows',
          title: 'No workflow runs yet',
          text: 'Each workflow run is listed here, with the result of every step and links to the executions.',
          action: (
            <Button
              component={Link}
              to="/workflows/$workflowId/run"
              params={{ workflowId } as never}
            >
              Run workflow
            </Button>
          ),
        }}
        filtered={
          (filters.status ?? filters.failedItems ?? filters.offset) !== undefined && {
            text: 'No workflow run has this status, or its retention period has ended.',
            onClear: () => choose(''),
          }
        }
      />
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
    cell: (run) => (
      <>
        <RunBadge of={run} />
        {run.rerunOf && <div className="small-note">failed items, again</div>}
        {run.failedStep && <div className={classes.error}>in {run.failedStep}</div>}
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
    cell: ({ workflowVersionLabel }) => <span className="code">{workflowVersionLabel}</span>,
  },
  {
    header: 'Duration',
    align: 'right',
    cell: ({ executedAt, completedAt }) =>
      completedAt ? (
        formatDuration(Date.parse(completedAt) - Date.parse(executedAt))
      ) : (
        <span className="soft">–</span>
      ),
  },
];
