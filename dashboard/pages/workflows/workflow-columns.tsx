import { Link } from '@tanstack/react-router';
import { Time } from '../../components/figures/time.tsx';
import { EnabledBadge } from '../../components/states/state-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { NameCell, rowLink } from '../../components/tables/name-cell.tsx';
import type { WorkflowRunStatus } from '../../data/workflows/workflow-runs.ts';
import type { WorkflowSummary } from '../../data/workflows/workflows.ts';
import classes from './workflows.module.css';

export const columns: readonly Column<WorkflowSummary>[] = [
  {
    header: 'Workflow',
    isName: true,
    cell: ({ workflowId, name, description }) => (
      <NameCell
        name={
          <Link to="/workflows/$workflowId" params={{ workflowId }} {...rowLink(name)}>
            {name}
          </Link>
        }
        about={description}
      />
    ),
  },
  { header: 'State', cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  {
    header: 'Version',
    hideBelow: 'sm',
    cell: ({ workflowVersionLabel }) => <span className="code">{workflowVersionLabel}</span>,
  },
  {
    header: 'Steps',
    align: 'right',
    hideBelow: 'md',
    cell: ({ stepCount }) => stepCount,
  },
  {
    header: 'Recent workflow runs',
    cell: ({ lastRuns = [] }) => <LastRuns runs={lastRuns} />,
  },
  {
    header: 'Next scheduled',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ nextAt }) =>
      nextAt ? <Time at={nextAt} relative /> : <span className="soft">–</span>,
  },
];

/** Newest last, as on a timeline. */
function LastRuns({ runs }: { readonly runs: NonNullable<WorkflowSummary['lastRuns']> }) {
  const [latest] = runs;
  if (!latest) return <span className="soft">Never run</span>;
  return (
    <span className={classes.runs}>
      <svg
        role="img"
        aria-label={`Recent workflow runs, newest first: ${runs.map(({ status }) => status).join(', ')}`}
        width={runs.length * 12 - 2}
        height={10}
      >
        {runs.toReversed().map(({ workflowRunId, status }, index) => (
          <rect
            key={workflowRunId}
            x={index * 12}
            width={10}
            height={10}
            rx={3}
            className={tones[status]}
          />
        ))}
      </svg>
      <Time at={latest.executedAt} relative />
    </span>
  );
}

const tones: Readonly<Record<WorkflowRunStatus, string | undefined>> = {
  processing: classes.processing,
  success: classes.good,
  failed: classes.bad,
  canceled: classes.calm,
};
