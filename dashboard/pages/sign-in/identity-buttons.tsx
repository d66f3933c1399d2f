import { Button, Divider, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { FormError } from '../../components/states/form-error.tsx';
import { serverPath } from '../../data/client/base-path.ts';
import { cueline } from '../../data/client/client.ts';
import { signInOptionsQuery } from '../../data/workspace/session-user.ts';

const names = { github: 'GitHub', google: 'Google', oidc: 'your organization' } as const;

/** Sign-in buttons of the configured identity providers. */
export function IdentityButtons({ from }: { readonly from: string }) {
  const providers = useQuery(signInOptionsQuery).data?.identityProviders;
  const redirect = useMutation({
    mutationFn: (provider: string) =>
      cueline.session.socialSignInUrl(provider, {
        callbackURL: serverPath(from),
        errorCallbackURL: serverPath('/sign-in'),
      }),
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
          loading={redirect.isPending && redirect.variables === provider}
          onClick={() => redirect.mutate(provider)}
        >
          Continue with {names[provider]}
        </Button>
      ))}
      <FormError error={redirect.error} />
    </Stack>
  );
}
