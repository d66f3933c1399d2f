import { useSyncExternalStore } from 'react';
import {
  type ConnectionState,
  connectionState,
  subscribeToConnection,
} from '../../data/client/connection.ts';

/** Whether the server can serve this page. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(subscribeToConnection, connectionState);
}
