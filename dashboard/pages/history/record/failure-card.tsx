import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { statusTones } from '../../../components/states/status-badge.tsx';
import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { remedies } from '../error-remedies.ts';
import classes from './record.module.css';

/** Why the execution did not succeed, and what to do about it. */
export function FailureCard({ execution }: { readonly execution: ExecutionDetail }) {
  const isOwner = can(useMe(), 'manage');
  if (execution.errorCode === undefined) return null;
  return (
    <section
      className={classes.failure}
      data-tone={statusTones[execution.status]}
      aria-label={execution.status === 'canceled' ? 'Reason' : 'Error'}
    >
      <code>{execution.errorCode}</code>
      {execution.error && (
        <p className={classes.text} dir="auto">
          {execution.error}
        </p>
      )}
      <p>{remedies[execution.errorCode]}</p>
      {isOwner && <Repair execution={execution} />}
    </section>
  );
}

/** Leads owners to what they can change about it. */
function Repair({ execution: { errorCode, modelUsed } }: { readonly execution: ExecutionDetail }) {
  const provider = modelUsed.slice(0, modelUsed.indexOf('/'));
  const link = (text: ReactNode) => (
    <p>
      <Link to="/settings/providers" search={{ provider }}>
        {text}
      </Link>
    </p>
  );
  if (errorCode === 'PROVIDER_AUTH') return link(`Replace the credential of ${provider}`);
  if (errorCode === 'PROVIDER_NOT_CONFIGURED') return link(`Add the provider ${provider}`);
  if (errorCode !== 'QUOTA_EXCEEDED') return null;
  return (
    <p>
      <Link to="/settings/workspace">Raise the quota</Link>
    </p>
  );
}
