import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { useRotateWebhook, type Webhook } from '../../../data/workflows/triggers.ts';
import { WebhookSecret } from './webhook-secret.tsx';

/**
 * Replaces the secret. Rendered outside the list: rotating refetches the list, and a dialog inside a row would unmount
 * with the secret.
 */
export function RotateWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhookId, workflowId, name } = props.webhook;
  const rotate = useRotateWebhook(workflowId);
  if (rotate.data) return <WebhookSecret issued={rotate.data} onClose={props.onClose} />;
  return (
    <ConfirmDialog
      opened
      title={`Rotate the secret of ${name}?`}
      confirmLabel="Rotate"
      destructive
      mutation={rotate}
      onClose={props.onClose}
      onConfirm={() => rotate.mutate(webhookId)}
    >
      The old secret stops working: events signed with it will fail with 401 until the sender uses
      the new one.
    </ConfirmDialog>
  );
}
