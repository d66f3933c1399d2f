import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConnection } from '../../components/hooks/use-connection.ts';
import classes from './notice.module.css';

/** Says that the server does not answer or cannot serve, and when it does again. Everything shown is then read again. */
export function ConnectionNotice() {
  const state = useConnection();
  const queries = useQueryClient();
  useEffect(() => {
    if (state === 'restored') void queries.invalidateQueries();
  }, [state, queries]);
  return (
    <div role="status">
      {state === 'lost' && (
        <p className={classes.notice}>
          Offline: the server does not answer. The page shows what it loaded before, and changes are
          not saved. Trying again…
        </p>
      )}
      {state === 'reconnecting' && (
        <p className={classes.notice}>
          Reconnecting… The server is waiting for its database. The page shows what it loaded
          before, and changes may not be saved.
        </p>
      )}
      {state === 'restored' && (
        <p className={classes.notice}>Reconnected. The page is current again.</p>
      )}
    </div>
  );
}
