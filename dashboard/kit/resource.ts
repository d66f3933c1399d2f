import { type QueryKey, queryOptions } from '@tanstack/react-query';
import type { CallOptions } from '../../src/client/index.ts';
import { queryClient } from '../data/client/query-client.ts';
import { useSingleFlight } from '../data/client/use-single-flight.ts';

/** A call that changes something: what is announced then, and which queries are read again. */
export interface Action<Input, Result> {
  readonly run: (input: Input) => Promise<Result>;
  readonly saved: string;
  readonly stale: readonly QueryKey[];
}

/** The action as a mutation. It reads again even after an error, which may mean a concurrent change. */
export function useAction<Input, Result>({ run, saved, stale }: Action<Input, Result>) {
  return useSingleFlight<Result, Input>({
    mutationFn: run,
    meta: { saved },
    // Not awaited: the result, such as a new key, shows at once.
    onSettled: () => {
      for (const queryKey of stale) void queryClient.invalidateQueries({ queryKey });
    },
  });
}

/** The action with its input, to be confirmed. */
export function withInput<Input, Result>(
  { run, ...action }: Action<Input, Result>,
  input: Input,
): Action<void, Result> {
  return { ...action, run: () => run(input) };
}

type Call = (...args: never[]) => Promise<unknown>;
type Client = { readonly [Name in 'list' | 'get' | 'create' | 'update' | 'delete']?: Call };
/** Arguments of a call of the client, but for its options. */
type Given<C> = C extends (...args: infer All) => unknown
  ? All extends [...infer Own, CallOptions?]
    ? Required<Own>
    : never
  : never;
type Ids<C> = Given<C> extends [...infer All, unknown] ? All : never;
type Input<C> = Given<C> extends [...unknown[], infer Last] ? Last : never;
type Result<C> = C extends Call ? Awaited<ReturnType<C>> : never;
type AnyCall = (...args: unknown[]) => Promise<never>;

/**
 * What the pages do with one resource of the contract, from its methods of the API client: queries, whose keys begin with
 * its name, and actions, after which all of them are read again.
 */
export function resource<C extends Client>(name: string, noun: string, client: C) {
  const key = [name];
  const action = <I, R>(run: (input: I) => Promise<R>, saved = 'Saved'): Action<I, R> => ({
    ...{ run, saved, stale: [key] },
  });
  const query = <R>(path: QueryKey, read: (options: CallOptions) => Promise<R>) =>
    queryOptions({ queryKey: [name, ...path], queryFn: ({ signal }) => read({ signal }) });
  const call = (method: keyof Client, args: readonly unknown[], options?: CallOptions) =>
    (client[method] as AnyCall)(...args, ...(options ? [options] : []));
  return {
    key,
    action,
    query,
    list: (...args: Given<C['list']>) =>
      query<Result<C['list']>>(['list', ...args], (options) => call('list', args, options)),
    get: (...ids: Given<C['get']>) =>
      query<Result<C['get']>>(['get', ...ids], (options) => call('get', ids, options)),
    create: (...ids: Ids<C['create']>) =>
      action<Input<C['create']>, Result<C['create']>>(
        (input) => call('create', [...ids, input]),
        `${noun} created`,
      ),
    update: (...ids: Ids<C['update']>) =>
      action<Input<C['update']>, Result<C['update']>>((patch) => call('update', [...ids, patch])),
    remove: (...ids: Given<C['delete']>) =>
      action<void, Result<C['delete']>>(() => call('delete', ids), `${noun} deleted`),
    invalidate: () => void queryClient.invalidateQueries({ queryKey: key }),
  };
}
