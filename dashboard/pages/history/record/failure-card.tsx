import { Link } from '@tanstack/react-router';
import { statusTones } from '../../../components/states/status-badge.tsx';
import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { remedies } from '../error-remedies.ts';
import { refusingLimit } from '../refusing-limit.ts';
import classes from './record.module.css';

/** Why the execution did not succeed, and what to do about it. */
export function FailureCard({ execution }: { readonly execution: ExecutionDetail }) {
  const { errorCode, error, status } = execution;
  if (errorCode === undefined) return null;
  return (
    <section
      className={classes.failure}
      data-tone={statusTones[status]}
      aria-label={status === 'canceled' ? 'Reason' : 'Error'}
    >
      {error && (
        <p className={classes.text} dir="auto">
          {error}
        </p>
      )}
      <p>
        {remedies[errorCode]} <Repair execution={execution} />
      </p>
      <code>{errorCode}</code>
    </section>
  );
}

/** Leads those who may to what they can change about it. */
function Repair({ execution }: { readonly execution: ExecutionDetail }) {
  const me = useMe();
  const { errorCode, modelUsed } = execution;
  const provider = modelUsed.slice(0, modelUsed.indexOf('/'));
  const toProvider = (text: string) =>
    can(me, 'manage') && (
      <Link to="/settings/providers" search={{ provider }}>
        {text} {provider}
      </Link>
    );
  switch (errorCode) {
    case 'PROVIDER_AUTH':
      return toProvider('Replace the credential of');
    case 'PROVIDER_NOT_CONFIGURED':
      return toProvider('Add the provider');
    case 'QUOTA_EXCEEDED':
      return can(me, 'manage') && <Link to="/settings/workspace">Raise the quota</Link>;
    case 'RATE_LIMIT_EXCEEDED':
    case 'MODEL_TIMEOUT':
      return can(me, 'edit') && <RaiseLimit execution={execution} />;
    default:
      return null;
  }
}

function RaiseLimit({
  execution: { errorCode, error, agentId },
}: {
  readonly execution: ExecutionDetail;
}) {
  const limit = errorCode === 'MODEL_TIMEOUT' ? 'timeout' : refusingLimit(error);
  if (limit === null) return null;
  if (limit === 'key') return <Link to="/keys">Raise the limit of the API key</Link>;
  const params = { agentId };
  if (limit === 'stage')
    return (
      <Link to="/agents/$agentId" params={params}>
        Deploy the agent, which lifts the limits of the Testing stage
      </Link>
    );
  return (
    <Link to="/agents/$agentId/settings" params={params}>
      Raise the {limit === 'agent' ? 'limit' : 'timeout'} of the agent
    </Link>
  );
}
