import { SecretDialog } from '../../../kit/secret-dialog.tsx';

export function ToolServerSecret({ secret }: { readonly secret: string }) {
  return (
    <SecretDialog
      title="Signing secret"
      note="Copy the secret now and store it with the server’s secrets: it verifies that calls come from Cueline. It is stored encrypted and cannot be shown again."
      label="Secret"
      secret={secret}
    />
  );
}
