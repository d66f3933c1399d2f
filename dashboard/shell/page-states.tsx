import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { describeError, ErrorState } from '../components/error-state.tsx';
import { isNotFound } from '../data/client/error-status.ts';
import { navigationItems } from './navigation-items.ts';
import { StandalonePage } from './standalone-page.tsx';

/** The default loading, error and not-found pages. */

export function PageLoading() {
  return (
    <Stack gap="lg" aria-busy="true">
      <Skeleton height={26} width="12rem" mb="xs" />
      <Skeleton height={320} />
    </Stack>
  );
}

export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  const { title } = describeError(error);
  useEffect(() => {
    document.title = `${title} · Cueline`;
  }, [title]);
  const item = navigationItems.find(({ to }) =>
    router.state.location.pathname.startsWith(`${to}/`),
  );
  return (
    <>
      <ErrorState heading="h1" error={error} onRetry={() => void router.invalidate()} />
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

/** Outside the shell, because the user may not be signed in. */
export function NotFoundPage() {
  return (
    <StandalonePage
      title="Page not found"
      description="This URL does not exist, or its resource was deleted."
    >
      <Button component={Link} to="/" variant="default" fullWidth>
        Go to agents
      </Button>
    </StandalonePage>
  );
}
