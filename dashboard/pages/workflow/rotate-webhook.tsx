import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useRotateWebhook, type Webhook } from '../../data/workflows/triggers.ts';
import { IssuedSecret } from './issued-secret.tsx';

/**
 * A new secret in place of the old one. Stands beside the list and not in a row of it: with the answer the list is read
 * anew, and where that changes or fails, the only sight of the new secret would be gone with the row.
 */
export function RotateWebhook(props: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { webhookId, workflowId, name } = props.webhook;
  const rotate = useRotateWebhook(workflowId);
  if (rotate.data) return <IssuedSecret issued={rotate.data} onClose={props.onClose} />;
  return (
    <ConfirmDialog
      opened
      title={`Rotate the secret of ${name}?`}
      verb="Rotate"
      destructive
      order={rotate}
      onClose={props.onClose}
      onConfirm={() => rotate.mutate(webhookId)}
    >
      The old secret does not hold any more: events that are still signed with it are answered 401
      until their sender has the new one.
    </ConfirmDialog>
  );
}
