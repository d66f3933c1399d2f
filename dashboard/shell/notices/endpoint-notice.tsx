import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endpoints } from '../../data/workspace/endpoints.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './notice.module.css';

/** Tells owners that Cueline disabled an endpoint: it receives no events until it is enabled. */
export function EndpointNotice() {
  const isOwner = can(useMe(), 'manage');
  const { data = [] } = useQuery({ ...endpoints.list(), staleTime: 30_000, enabled: isOwner });
  const disabled = data.filter(
    ({ disabledBecause }) => disabledBecause !== null && disabledBecause !== 'owner',
  );
  const [first] = disabled;
  if (!first) return null;
  return (
    <p className={classes.notice}>
      {disabled.length === 1
        ? 'An endpoint was disabled and receives no events.'
        : `${disabled.length} endpoints were disabled and receive no events.`}{' '}
      {disabled.length === 1 ? (
        <Link to="/settings/endpoints/$endpointId" params={{ endpointId: first.endpointId }}>
          Show endpoint
        </Link>
      ) : (
        <Link to="/settings/endpoints">Show endpoints</Link>
      )}
    </p>
  );
}
