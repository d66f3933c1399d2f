import type { QueryKey } from '@tanstack/react-query';
import { queryClient, resetQuery } from '../data/client/query-client.ts';
import type { Action } from './resource.ts';

/** After which the page is left. It stays pending until then. */
export function leaving(leave: () => Promise<void>): Action<void, void> {
  const run = async () => {
    await leave();
    return new Promise<void>(() => {});
  };
  return { run, saved: '', stale: [] };
}

/** Deletes what has pages of its own: leaves them, and then drops what is cached, which a mounted page would read again. */
export function deletion(
  run: () => Promise<unknown>,
  leave: () => Promise<void>,
  [list, ...obsolete]: readonly [list: QueryKey, ...obsolete: readonly QueryKey[]],
): Action<void, void> {
  const runAndLeave = async () => {
    await run();
    void queryClient.invalidateQueries({ queryKey: list });
    await leave();
    for (const queryKey of obsolete) resetQuery(queryKey);
  };
  return { run: runAndLeave, saved: 'Deleted', stale: [] };
}
