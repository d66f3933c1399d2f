import { Button, Skeleton, Stack } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorState } from '../parts/error-state.tsx';

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
  return <ErrorState error={error} onRetry={() => void router.invalidate()} />;
}

export function PageUnknown() {
  return (
    <EmptyState
      title="There is no such page"
      action={
        <Button component={Link} to="/" variant="default">
          Go to the agents
        </Button>
      }
    >
      The address leads nowhere, or to something that was deleted.
    </EmptyState>
  );
}
