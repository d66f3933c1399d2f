import { Button } from '@mantine/core';
import { describeError } from './error-state.tsx';
import classes from './form-error.module.css';

interface Query {
  readonly data: unknown;
  readonly isError: boolean;
  readonly error: unknown;
  refetch(): unknown;
}

/** Shown above data whose refetch failed: the cached data stays visible. */
export function StaleNotice({ query }: { readonly query: Query }) {
  if (!query.isError || query.data === undefined) return null;
  return (
    <div className={classes.notice} role="status">
      <span>This may be out of date. {describeError(query.error).message}</span>
      <Button size="compact-xs" variant="default" onClick={() => query.refetch()}>
        Try again
      </Button>
    </div>
  );
}
