import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { remedies } from './error-remedies.ts';
import classes from './record.module.css';

/** Why the execution did not succeed, and what to do about it. */
export function Failure({ run }: { readonly run: ExecutionDetail }) {
  if (run.errorCode === undefined) return null;
  return (
    <section
      className={classes.failure}
      data-calm={run.status === 'canceled' || undefined}
      aria-label={run.status === 'canceled' ? 'Reason' : 'Error'}
    >
      <code>{run.errorCode}</code>
      {run.error && <p className={classes.words}>{run.error}</p>}
      <p>{remedies[run.errorCode]}</p>
    </section>
  );
}
