import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { formatDuration } from '../../data/text/format.ts';
import { costCell } from './columns.tsx';
import classes from './record.module.css';

/** The attempts of an execution that needed more than one, oldest first. */
export function Attempts({ execution }: { readonly execution: ExecutionDetail }) {
  const { attemptList = [] } = execution;
  if (attemptList.length < 2) return null;
  return (
    <ol className={classes.attempts} aria-label="Attempts">
      {attemptList.map((attempt, index) => (
        <li key={index}>
          <code>{attempt.model}</code>
          <span data-failed={attempt.errorCode !== undefined || undefined}>
            {attempt.errorCode ?? 'success'}
          </span>
          <span>{attempt.latencyMs !== undefined && formatDuration(attempt.latencyMs)}</span>
          <span>{costCell(attempt)}</span>
        </li>
      ))}
    </ol>
  );
}
