import { Button, Divider, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { cueline } from '../../data/client.ts';
import { FormProblem } from '../../parts/form-problem.tsx';

const names = { github: 'GitHub', google: 'Google', oidc: 'your organisation' } as const;

/** The ways in beside a password, as far as the server has some. */
export function IdentityButtons({ from }: { readonly from: string }) {
  const providers = useQuery({
    queryKey: ['identity-providers'],
    queryFn: () => cueline.session.identityProviders(),
  }).data;
  const depart = useMutation({
    mutationFn: (provider: string) =>
      cueline.session.socialSignInUrl(provider, { callbackURL: from, errorCallbackURL: '/sign-in' }),
    onSuccess: (url) => location.assign(url),
  });
  if (!providers || providers.length === 0) return null;
  return (
    <Stack gap="sm" mt="lg">
      <Divider label="or" c="var(--soft)" />
      {providers.map((provider) => (
        <Button
          key={provider}
          variant="default"
          fullWidth
          loading={depart.isPending && depart.variables === provider}
          onClick={() => depart.mutate(provider)}
        >
          Continue with {names[provider]}
        </Button>
      ))}
      <FormProblem error={depart.error} />
    </Stack>
  );
}
