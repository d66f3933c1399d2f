import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CuelineError, type OpenedInvitation } from '../../../src/client/index.ts';
import { DescriptionList } from '../../components/layout/card.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { formatTime } from '../../data/text/format.ts';
import { invitationQuery } from '../../data/workspace/invitations.ts';
import { sessionUserQuery } from '../../data/workspace/session-user.ts';
import { StandalonePage } from '../../shell/standalone-page.tsx';
import { AcceptInvitation } from './accept-invitation.tsx';

const route = getRouteApi('/invitations/$token');

/** Shows what an invitation grants before it is accepted. */
export function InvitationPage() {
  const { token } = route.useParams();
  const invitation = useQuery(invitationQuery(token));
  const user = useQuery(sessionUserQuery);
  if (invitation.isError) {
    const { error } = invitation;
    if (error instanceof CuelineError && error.status === 404) return <InvitationNotFound />;
    return (
      <StandalonePage title="Join a workspace">
        <Stack gap="md">
          <FormError error={error} />
          <Button variant="default" fullWidth onClick={() => void invitation.refetch()}>
            Try again
          </Button>
        </Stack>
      </StandalonePage>
    );
  }
  if (!invitation.data || !user.isFetched) {
    return (
      <StandalonePage title="Join a workspace">
        <Skeleton height={260} />
      </StandalonePage>
    );
  }
  return (
    <StandalonePage title={`Join ${invitation.data.name}`}>
      <Stack gap="lg">
        <Invited invitation={invitation.data} />
        <AcceptInvitation
          token={token}
          invitation={invitation.data}
          signedInAs={user.data?.email ?? null}
        />
      </Stack>
    </StandalonePage>
  );
}

function Invited({ invitation: { email, role, expiresAt } }: { invitation: OpenedInvitation }) {
  return (
    <DescriptionList
      items={[
        ['Email', email],
        ['Role', `${role}: ${rolePermissions[role]}`],
        ['Expires', formatTime(expiresAt)],
      ]}
    />
  );
}

const rolePermissions: Readonly<Record<OpenedInvitation['role'], string>> = {
  viewer: 'can view everything',
  editor: 'can also edit and execute',
  owner: 'can also manage members, plan and providers',
};

function InvitationNotFound() {
  return (
    <StandalonePage
      title="Invalid invitation link"
      description="The invitation does not exist, or it was used or revoked, or has expired. Ask the sender for a new one."
    >
      <Link to="/sign-in">Sign in</Link>
    </StandalonePage>
  );
}
