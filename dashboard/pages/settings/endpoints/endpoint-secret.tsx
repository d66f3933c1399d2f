import { SecretDialog } from '../../../kit/secret-dialog.tsx';

export function EndpointSecret({ secret }: { readonly secret: string }) {
  return (
    <SecretDialog
      title="Signing secret"
      note="Copy the secret now and store it with the receiver’s secrets: it verifies that events come from Cueline. It is stored encrypted and cannot be shown again."
      label="Secret"
      secret={secret}
    />
  );
}
