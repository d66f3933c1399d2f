import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ExecutionEvent } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import {
  type ExecutionDetail,
  executionEventsQuery,
  isInProgress,
} from '../../../data/executions/executions.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import classes from './record.module.css';

/** The events sent for an execution, with the state of each delivery. Nothing if no endpoint subscribed to one. */
export function SentEvents({ execution }: { readonly execution: ExecutionDetail }) {
  const { agentId, executionId } = execution;
  const events = useQuery({
    ...executionEventsQuery(agentId, executionId),
    enabled: !isInProgress(execution),
  });
  if (!events.data || events.data.length === 0) return null;
  return (
    <section className={classes.part} aria-label="Events">
      <h2 className={classes.subhead}>Events sent</h2>
      <ul className={classes.events}>
        {events.data.map((event) => (
          <li key={event.eventId}>
            <code>{event.type}</code>
            {event.deliveries.length === 0 && (
              <span className="note">Read by pull endpoints only</span>
            )}
            {event.deliveries.map((delivery) => (
              <DeliveryLine key={delivery.endpointId} delivery={delivery} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

const tones = { delivered: 'good', pending: 'warn', failed: 'bad' } as const;

function DeliveryLine({ delivery }: { readonly delivery: ExecutionEvent['deliveries'][number] }) {
  const { state, description, endpointId, lastAttemptAt, nextAttemptAt, lastError } = delivery;
  return (
    <div className={classes.delivery}>
      <StateBadge tone={tones[state]} text={state} />
      <Endpoint endpointId={endpointId}>{description ?? <code>{endpointId}</code>}</Endpoint>
      {lastAttemptAt && <Time at={lastAttemptAt} relative />}
      {lastError && <span className="note">{lastError}</span>}
      {nextAttemptAt && (
        <span className="note">
          Next attempt <Time at={nextAttemptAt} relative />
        </span>
      )}
    </div>
  );
}

/** A link for owners: only they see endpoints. */
function Endpoint(props: { readonly endpointId: string; readonly children: ReactNode }) {
  const { endpointId, children } = props;
  const name = <span dir="auto">{children}</span>;
  if (!can(useMe(), 'manage')) return name;
  return (
    <Link to="/settings/endpoints/$endpointId" params={{ endpointId }}>
      {name}
    </Link>
  );
}
