import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { formatDuration } from '../../../data/text/format.ts';
import { costCell } from '../amounts.tsx';
import classes from './record.module.css';

/** The attempts, and with tools the turns, oldest first: the model, how it ended, and what it took. */
export function Attempts({ execution }: { readonly execution: ExecutionDetail }) {
  const { attemptList = [], attempts, turns } = execution;
  const noun = turns === undefined ? 'attempt' : 'model call';
  if (attemptList.length === 0) {
    return <p className={classes.count}>{attempts === 1 ? '1 attempt' : `${attempts} attempts`}</p>;
  }
  return (
    <>
      <h2 className={classes.subhead}>
        {attemptList.length === 1 ? `1 ${noun}` : `${attemptList.length} ${noun}s`}
      </h2>
      <ol
        className={classes.attempts}
        aria-label={turns === undefined ? 'Attempts' : 'Model calls'}
      >
        {attemptList.map((attempt, index) => (
          <li key={index}>
            <code>{attempt.model}</code>
            <span data-failed={attempt.errorCode !== undefined || undefined}>
              {attempt.errorCode ?? 'success'}
            </span>
            {attempt.latencyMs !== undefined && <span>{formatDuration(attempt.latencyMs)}</span>}
            <span>{costCell(attempt)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
