import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { NewSecret } from '../../../components/dialogs/new-secret.tsx';

export function EndpointSecret(props: { readonly secret: string; readonly onClose: () => void }) {
  const { secret, onClose } = props;
  return (
    <Dialog title="Signing secret" size="lg" locked onClose={onClose}>
      <NewSecret
        note="Copy the secret now and store it with the receiver’s secrets: it verifies that events come from Cueline. It is stored encrypted and cannot be shown again."
        label="Secret"
        secret={secret}
        onClose={onClose}
      />
    </Dialog>
  );
}
