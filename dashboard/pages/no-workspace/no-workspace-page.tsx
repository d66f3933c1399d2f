import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { FormProblem } from '../../components/form-error.tsx';
import { sessionUserQuery } from '../../data/workspace/session-user.ts';
import { Gate } from '../../shell/standalone-page.tsx';
import { useSignOut } from '../../shell/use-sign-out.ts';

/** For someone who has left or was removed from all there was; who is not signed in is asked to sign in. */
export function NoWorkspacePage() {
  const user = useQuery(sessionUserQuery).data;
  const signOut = useSignOut();
  if (user === null) return <Navigate to="/sign-in" replace />;
  return (
    <Gate
      title="You are in no workspace"
      description={`${user ? `${user.email} belongs` : 'You belong'} to no workspace here. Ask an owner of one to invite you, and open the link they hand you.`}
    >
      <Stack gap="md">
        <FormProblem error={signOut.error} />
        <Button fullWidth renderRoot={(root) => <Link {...root} to="/" />}>
          Look again
        </Button>
        <Button
          fullWidth
          variant="default"
          loading={signOut.isPending}
          onClick={() => signOut.mutate()}
        >
          Sign out
        </Button>
      </Stack>
    </Gate>
  );
}
