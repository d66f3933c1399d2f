import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { useConnection } from '../components/hooks/use-connection.ts';
import { PageHeader } from '../components/layout/page-header.tsx';
import { EmptyState } from '../components/states/empty-state.tsx';
import { describeError, ErrorState } from '../components/states/error-state.tsx';
import type { ConnectionState } from '../data/client/connection.ts';
import { isNotFound } from '../data/client/error-status.ts';
import {
  ComponentLoadError,
  recoverFromLoadError,
  reloadIfServed,
} from '../data/client/upgrade.ts';
import { navigationItems } from './navigation/navigation-items.ts';
import classes from './notices/notice.module.css';

/** The default loading, error and not-found pages. */

export function PageLoading() {
  return (
    <Stack gap="lg" aria-busy="true">
      <Skeleton height={26} width="12rem" mb="xs" />
      <Skeleton height={320} />
    </Stack>
  );
}

const waiting: Readonly<Record<ConnectionState, string>> = {
  connected: '',
  lost: 'Offline: the server does not answer. Trying again…',
  reconnecting: 'Reconnecting… The page loads once the server is ready.',
  restored: 'Reconnected.',
};

export function PageError(props: ErrorComponentProps) {
  return <LoadError {...props} showsConnection={!useIsInShell()} />;
}

/** Whether the shell is there, which shows the state of the connection itself. */
function useIsInShell(): boolean {
  const { matches } = useRouter().state;
  return matches.some(({ routeId, status }) => routeId === '/app' && status === 'success');
}

function LoadError(props: ErrorComponentProps & { readonly showsConnection: boolean }) {
  const { error, showsConnection } = props;
  const router = useRouter();
  const { title } = describeError(error);
  useEffect(() => {
    document.title = `${title} · Cueline`;
  }, [title]);
  useEffect(() => {
    if (error instanceof ComponentLoadError) void recoverFromLoadError(error);
  }, [error]);
  const retry = useCallback(
    () => void (error instanceof ComponentLoadError ? reloadIfServed() : router.invalidate()),
    [error, router],
  );
  // Nothing else would read it again.
  const connection = useConnection();
  useEffect(() => {
    if (connection === 'restored') retry();
  }, [connection, retry]);
  const item = navigationItems.find(
    ({ to }) => to !== '/' && router.state.location.pathname.startsWith(`${to}/`),
  );
  return (
    <>
      <ErrorState heading="h1" error={error} onRetry={retry} />
      <p className={classes.again} role="status">
        {showsConnection && waiting[connection]}
      </p>
      {isNotFound(error) && item && (
        <Group justify="center" mt="md">
          <Button component={Link} to={item.to} variant="default">
            Go to {item.label}
          </Button>
        </Group>
      )}
    </>
  );
}

/** Instead of the shell, if it cannot load. */
export function AppError(props: ErrorComponentProps) {
  return (
    <main className={classes.alone}>
      <LoadError {...props} showsConnection />
    </main>
  );
}

/** For a path that is no page. */
export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon="search"
        title="This URL does not exist"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        Its resource may have been deleted, or the address was cut off.
      </EmptyState>
    </>
  );
}
