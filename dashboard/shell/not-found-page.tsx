import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { PageHeader } from '../components/layout/page-header.tsx';
import { EmptyState } from '../components/states/empty-state.tsx';

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
