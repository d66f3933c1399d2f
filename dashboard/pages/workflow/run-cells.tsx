import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDuration } from '../../data/text/format.ts';
import type { RunItem, RunStep } from '../../data/workflows/workflow-runs.ts';
import classes from './workflow.module.css';

/** What the tables of steps and of items show alike. */

/** Said where a fixed output stood in for an agent that failed: the state alone says nothing of that. */
export function FixedFallback({ of: { agentId, fallback } }: { readonly of: RunStep | RunItem }) {
  return fallback && !agentId && <div className={classes.note}>fixed fallback</div>;
}

/** The executions that were made of a step or an item, as links to their records. */
export function Executions(props: {
  readonly of: RunStep | RunItem;
  readonly name: string;
  /** The agent of the step itself, which was called before that of its fallback. */
  readonly firstAgentId: string;
}) {
  const { agentId, executionId, failedExecutionId, fallback } = props.of;
  const failedId = fallback && failedExecutionId;
  // A fixed output has no execution of its own.
  const ownId = agentId && executionId;
  if (!failedId && !ownId) return <None />;
  return (
    <span className={classes.links}>
      {failedId && (
        <Link
          to="/history/$agentId/$executionId"
          params={{ agentId: props.firstAgentId, executionId: failedId }}
          aria-label={`Failed record of ${props.name}, before its fallback`}
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

export function tookOf({ startedAt, completedAt }: RunStep | RunItem): ReactNode {
  if (!startedAt || !completedAt) return undefined;
  return formatDuration(Math.max(0, Date.parse(completedAt) - Date.parse(startedAt)));
}

export function None() {
  return <span className={classes.soft}>–</span>;
}
