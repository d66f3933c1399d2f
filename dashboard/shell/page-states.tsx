import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ErrorState, problemOf } from '../components/error-state.tsx';
import { isGone } from '../data/client/not-found.ts';
import { places } from './navigation-items.ts';
import { Gate } from './standalone-page.tsx';

/** The default loading, error and not-found pages. */

export function PageLoading() {
  return (
    <Stack gap="lg" aria-busy="true">
      <Skeleton height={26} width="12rem" mb="xs" />
      <Skeleton height={320} />
    </Stack>
  );
}

export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const { title } = problemOf(error);
  useEffect(() => {
    document.title = `${title} · Cueline`;
  }, [title]);
  const place = places.find(({ to }) => router.state.location.pathname.startsWith(`${to}/`));
  return (
    <>
      <ErrorState heading="h1" error={error} onRetry={() => void router.invalidate()} />
      {isGone(error) && place && (
        <Group justify="center" mt="md">
          <Button component={Link} to={place.to} variant="default">
            Go to {place.label}
          </Button>
        </Group>
      )}
    </>
  );
}

/** Outside the shell, because the user may not be signed in. */
export function PageUnknown() {
  return (
    <Gate
      title="Page not found"
      description="This URL does not exist, or its resource was deleted."
    >
      <Button component={Link} to="/" variant="default" fullWidth>
        Go to agents
      </Button>
    </Gate>
  );
}
