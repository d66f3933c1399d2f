import type { ExecutionDetail } from '../../data/executions/executions.ts';
import { remedies } from './error-remedies.ts';
import classes from './record.module.css';

/** Why the execution did not succeed, and what to do about it. */
export function FailureCard({ execution }: { readonly execution: ExecutionDetail }) {
  if (execution.errorCode === undefined) return null;
  return (
    <section
      className={classes.failure}
      data-calm={execution.status === 'canceled' || undefined}
      aria-label={execution.status === 'canceled' ? 'Reason' : 'Error'}
    >
      <code>{execution.errorCode}</code>
      {execution.error && <p className={classes.text}>{execution.error}</p>}
      <p>{remedies[execution.errorCode]}</p>
    </section>
  );
}
