import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { schedulesQuery } from '../../data/triggers.ts';
import { lastRunsQuery, type RunStatus } from '../../data/workflow-runs.ts';
import type { WorkflowSummary } from '../../data/workflows.ts';
import type { Column } from '../../parts/data-table.tsx';
import list from '../../parts/list.module.css';
import { EnabledBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import classes from './workflows.module.css';

export const columns: readonly Column<WorkflowSummary>[] = [
  {
    key: 'name',
    header: 'Workflow',
    cell: ({ workflowId, name, description }) => (
      <>
        <Link
          to="/workflows/$workflowId"
          params={{ workflowId }}
          className={list.name}
          data-row-link
        >
          {name}
        </Link>
        {description && <div className={list.about}>{description}</div>}
      </>
    ),
  },
  { key: 'enabled', header: 'State', cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  {
    key: 'version',
    header: 'Version',
    from: 'sm',
    cell: ({ workflowVersionLabel }) => <span className={list.code}>{workflowVersionLabel}</span>,
  },
  {
    key: 'steps',
    header: 'Steps',
    align: 'right',
    from: 'md',
    cell: ({ stepCount }) => stepCount,
  },
  {
    key: 'runs',
    header: 'Last runs',
    cell: ({ workflowId }) => <LastRuns workflowId={workflowId} />,
  },
  {
    key: 'next',
    header: 'Next by schedule',
    align: 'right',
    from: 'sm',
    cell: ({ workflowId, enabled }) =>
      enabled ? <NextTime workflowId={workflowId} /> : <span className={list.none}>–</span>,
  },
];

/** The newest last, as on a time line. */
function LastRuns({ workflowId }: { readonly workflowId: string }) {
  const { data, isError } = useQuery(lastRunsQuery(workflowId));
  if (isError) return <span className={list.none}>–</span>;
  if (!data) return <Skeleton height={10} width="4rem" />;
  const [latest] = data.runs;
  if (!latest) return <span className={list.none}>never run</span>;
  return (
    <span className={classes.runs}>
      <svg
        role="img"
        aria-label={`The last runs, the newest first: ${data.runs.map(({ status }) => status).join(', ')}`}
        width={data.runs.length * 12 - 2}
        height={10}
      >
        {data.runs.toReversed().map(({ workflowRunId, status }, place) => (
          <rect
            key={workflowRunId}
            x={place * 12}
            width={10}
            height={10}
            rx={3}
            className={tones[status]}
          />
        ))}
      </svg>
      <Time at={latest.executedAt} since />
    </span>
  );
}

const tones: Readonly<Record<RunStatus, string | undefined>> = {
  processing: classes.processing,
  success: classes.good,
  failed: classes.bad,
  canceled: classes.calm,
};

function NextTime({ workflowId }: { readonly workflowId: string }) {
  const { data, isError } = useQuery(schedulesQuery(workflowId));
  if (!data && !isError) return <Skeleton height={10} width="3rem" display="inline-block" />;
  const [next] = (data?.schedules ?? []).flatMap(({ nextTimes }) => nextTimes[0] ?? []).sort();
  return next ? <Time at={next} since /> : <span className={list.none}>–</span>;
}
