import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useLocation, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { chooseWorkspace, cueline } from '../../data/client.ts';
import { meQuery } from '../../data/me.ts';
import { FormProblem, fieldProblem } from '../../parts/form-problem.tsx';
import { Gate } from '../../shell/gate.tsx';

const route = getRouteApi('/invitations/$token');

/** Someone signed in accepts with a click; anyone else makes their account with it. */
export function InvitationPage() {
  const { token } = route.useParams();
  const router = useRouter();
  const { pathname } = useLocation();
  const me = useQuery(meQuery);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useMutation({
    mutationFn: async () => {
      if (me.data) return cueline.invitations.accept({ token });
      const accepted = await cueline.invitations.accept({ token, name, password });
      await cueline.session.signIn({ email: accepted.email, password });
      return accepted;
    },
    onSuccess: ({ workspaceId }) => {
      chooseWorkspace(workspaceId);
      // The client is made for one workspace: the page begins anew.
      location.assign(router.buildLocation({ to: '/' }).href);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
  if (me.isPending) return null;
  return (
    <Gate
      title="Join a workspace"
      description={
        me.data
          ? `You are signed in as ${me.data.user.email}.`
          : 'Make your account. Its address is the one that was invited.'
      }
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          {!me.data && (
            <>
              <TextInput
                label="Your name"
                autoComplete="name"
                required
                withAsterisk={false}
                maxLength={200}
                value={name}
                error={fieldProblem(accept.error, 'name')}
                onChange={({ currentTarget }) => setName(currentTarget.value)}
              />
              <PasswordInput
                label="Password"
                description="10 to 128 characters"
                autoComplete="new-password"
                required
                withAsterisk={false}
                minLength={10}
                maxLength={128}
                value={password}
                error={fieldProblem(accept.error, 'password')}
                onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              />
            </>
          )}
          <FormProblem error={accept.error} />
          <Button type="submit" fullWidth loading={accept.isPending}>
            Accept the invitation
          </Button>
          {!me.data && (
            <Link to="/sign-in" search={{ from: pathname }}>
              I have an account already
            </Link>
          )}
        </Stack>
      </form>
    </Gate>
  );
}
