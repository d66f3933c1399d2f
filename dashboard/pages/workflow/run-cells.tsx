import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDuration } from '../../data/text/format.ts';
import type { WorkflowRunItem, WorkflowRunStep } from '../../data/workflows/workflow-runs.ts';
import classes from './workflow.module.css';

/** Cells shared by the tables of steps and items. */

/** Marks that a fixed output replaced a failed agent, which the state alone does not show. */
export function FixedFallback({
  item: { agentId, fallback },
}: {
  readonly item: WorkflowRunStep | WorkflowRunItem;
}) {
  return fallback && !agentId && <div className={classes.note}>fixed fallback</div>;
}

/** Links to the records of the executions of a step or an item. */
export function ExecutionLinks(props: {
  readonly item: WorkflowRunStep | WorkflowRunItem;
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

export function durationOf({
  startedAt,
  completedAt,
}: WorkflowRunStep | WorkflowRunItem): ReactNode {
  if (!startedAt || !completedAt) return undefined;
  return formatDuration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)));
}

export function EmptyCell() {
  return <span className={classes.muted}>–</span>;
}
