import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ErrorState, problemOf } from '../components/error-state.tsx';
import { isGone } from '../data/client/not-found.ts';
import { places } from './navigation-items.ts';
import { Gate } from './standalone-page.tsx';

/** What any page shows while it is fetched, when it fails, and where there is none. */

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
            Go to the {place.label.toLowerCase()}
          </Button>
        </Group>
      )}
    </>
  );
}

/** Outside the shell: whoever is not signed in may have mistyped, too. */
export function PageUnknown() {
  return (
    <Gate
      title="There is no such page"
      description="The address leads nowhere, or to something that was deleted."
    >
      <Button component={Link} to="/" variant="default" fullWidth>
        Go to the agents
      </Button>
    </Gate>
  );
}
