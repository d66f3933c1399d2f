import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../../components/tables/data-table.tsx';
import {
  formatCostSum,
  formatCount,
  formatDuration,
  formatExactCount,
} from '../../../data/text/format.ts';
import type { WorkflowRunItem, WorkflowRunStep } from '../../../data/workflows/workflow-runs.ts';
import classes from '../workflow.module.css';
import { toneOf } from './run-badges.tsx';

/** Columns and cells shared by the tables of steps and items. */

type Ran = WorkflowRunStep | WorkflowRunItem;

/** Marks that a fixed output replaced a failed agent, which the state alone does not show. */
export function FixedFallback({ item: { agentId, fallback } }: { readonly item: Ran }) {
  return fallback && !agentId && <div className="note">fixed fallback</div>;
}

/** Why a step or an item failed. */
export function FailureReason({ item: { error, errorCode } }: { readonly item: Ran }) {
  if (error === undefined) return null;
  return (
    <div className={classes.error}>
      <code>{errorCode}</code> {error}
    </div>
  );
}

/** Links to the records of the executions of a step or an item. */
export function ExecutionLinks(props: {
  readonly item: Ran;
  readonly name: string;
  /** The step's own agent, called before the fallback's agent. */
  readonly firstAgentId: string;
}) {
  const { agentId, executionId, failedExecutionId, fallback } = props.item;
  const failedId = fallback && failedExecutionId;
  // A fixed output has no execution.
  const ownId = agentId && executionId;
  if (!failedId && !ownId) return <EmptyCell />;
  return (
    <span className={classes.links}>
      {failedId && (
        <Link
          to="/history/$agentId/$executionId"
          params={{ agentId: props.firstAgentId, executionId: failedId }}
          aria-label={`Failed execution of ${props.name}, before its fallback`}
        >
          Failed
        </Link>
      )}
      {ownId && (
        <Link
          to="/history/$agentId/$executionId"
          params={{ agentId, executionId }}
          aria-label={`Record of ${props.name}`}
        >
          Record
        </Link>
      )}
    </span>
  );
}

/** The time that the timeline of a workflow run covers. */
export interface TimelineAxis {
  readonly startMs: number;
  readonly endMs: number;
}

/** When something ran, as a share of the axis. Without an end it runs until the end of the axis. */
export function TimelineBar({ axis, item }: { readonly axis: TimelineAxis; readonly item: Ran }) {
  if (!item.startedAt) return <EmptyCell />;
  const { startMs, endMs } = axis;
  const startedMs = Date.parse(item.startedAt);
  const endedMs = item.completedAt ? Date.parse(item.completedAt) : endMs;
  const share = (ms: number) =>
    Math.min(1, Math.max(0, (ms - startMs) / Math.max(1, endMs - startMs))) * 100;
  const [from, to] = [share(startedMs), share(endedMs)];
  const after = formatDuration(Math.max(0, startedMs - startMs));
  return (
    <svg
      className={classes.bar}
      width="100%"
      height="8"
      role="img"
      aria-label={`Started ${after} after the workflow run`}
    >
      <rect data-part="all" width="100%" height="8" rx="3" />
      <rect
        data-part="step"
        data-tone={toneOf(item)}
        x={`${Math.min(from, 99)}%`}
        width={`${Math.max(to - from, 1)}%`}
        height="8"
        rx="3"
      />
    </svg>
  );
}

export function timelineColumn(axis: TimelineAxis): Column<Ran> {
  return {
    header: 'Timeline',
    headerCell: (
      <span className={classes.axis}>
        <span>Timeline, 0 s</span>
        <span>{formatDuration(axis.endMs - axis.startMs)}</span>
      </span>
    ),
    hideBelow: 'sm',
    cell: (item) => <TimelineBar axis={axis} item={item} />,
  };
}

/** Duration, tokens and cost. */
export const figureColumns: readonly Column<Ran>[] = [
  {
    header: 'Duration',
    align: 'right',
    hideBelow: 'sm',
    cell: (item) => durationOf(item) ?? <EmptyCell />,
  },
  {
    header: 'Tokens',
    align: 'right',
    hideBelow: 'md',
    cell: ({ usage }) =>
      usage && usage.executions > 0 ? (
        <Tokens inputTokens={usage.inputTokens} outputTokens={usage.outputTokens} />
      ) : (
        <EmptyCell />
      ),
  },
  {
    header: 'Cost',
    align: 'right',
    hideBelow: 'sm',
    cell: ({ usage }) => (usage && usage.executions > 0 ? formatCostSum(usage) : <EmptyCell />),
  },
];

/** The bar, the duration and the cost, where the table has no room for columns. */
export function NarrowFigures({ axis, item }: { readonly axis: TimelineAxis; readonly item: Ran }) {
  if (!item.startedAt) return null;
  const { usage } = item;
  const cost = usage && usage.executions > 0 ? formatCostSum(usage) : null;
  return (
    <div className="narrow-only">
      <TimelineBar axis={axis} item={item} />
      <div className="note">
        {[durationOf(item), cost].filter((text) => text !== null).join(' · ')}
      </div>
    </div>
  );
}

function durationOf({ startedAt, completedAt }: Ran): string | null {
  if (!startedAt || !completedAt) return null;
  return formatDuration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)));
}

/** The sum, and its parts on hover and for screen readers. */
export function Tokens(props: { readonly inputTokens: number; readonly outputTokens: number }) {
  const { inputTokens, outputTokens } = props;
  const parts = `${formatExactCount(inputTokens)} input, ${formatExactCount(outputTokens)} output`;
  return (
    <Tooltip label={parts}>
      <span>
        {formatCount(inputTokens + outputTokens)}
        <span className="visually-hidden"> ({parts})</span>
      </span>
    </Tooltip>
  );
}

export function EmptyCell() {
  return <span className="soft">–</span>;
}
