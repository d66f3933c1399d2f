import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { FormError } from '../../components/states/form-error.tsx';
import { sessionUserQuery } from '../../data/workspace/session-user.ts';
import { useSignOut } from '../../shell/session/use-sign-out.ts';
import { StandalonePage } from '../../shell/standalone-page.tsx';
import { DeleteAccount } from '../settings/account/delete-account.tsx';

/** For users without any workspace. Signed-out users go to the sign-in page. */
export function NoWorkspacePage() {
  const user = useQuery(sessionUserQuery).data;
  const signOut = useSignOut();
  if (user === null) return <Navigate to="/sign-in" replace />;
  return (
    <StandalonePage
      title="No workspace"
      description={`${user ? `${user.email} is` : 'You are'} not a member of any workspace. Ask a workspace owner for an invitation link.`}
    >
      <Stack gap="md">
        <FormError error={signOut.error} />
        <Button fullWidth renderRoot={(root) => <Link {...root} to="/" />}>
          Check again
        </Button>
        <Button
          fullWidth
          variant="default"
          loading={signOut.isPending}
          onClick={() => signOut.mutate()}
        >
          Sign out
        </Button>
        <DeleteAccount fullWidth />
      </Stack>
    </StandalonePage>
  );
}
