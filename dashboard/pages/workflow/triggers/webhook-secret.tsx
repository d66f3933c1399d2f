import type { IssuedWebhook } from '../../../../src/client/index.ts';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { NewSecret } from '../../../components/dialogs/new-secret.tsx';
import { WebhookSnippets } from './webhook-snippets.tsx';

export function WebhookSecret(props: {
  readonly issued: IssuedWebhook;
  readonly onClose: () => void;
}) {
  const { issued, onClose } = props;
  return (
    <Dialog title={`Secret of ${issued.name}`} size="lg" locked onClose={onClose}>
      <NewSecret
        note="Copy the secret now and store it with the sender's secrets. Cueline stores it encrypted and cannot show it again."
        label="Secret"
        secret={issued.secret}
        onClose={onClose}
      >
        <WebhookSnippets workflowId={issued.workflowId} path={issued.path} />
      </NewSecret>
    </Dialog>
  );
}
