import type { ApiKey } from '../../../src/client/index.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { RotateDialog } from '../../components/dialogs/rotate-dialog.tsx';
import { useRotateKey } from '../../data/workspace/keys.ts';
import { IssuedKey } from './issued-key.tsx';

/** Replaces a key; the old one keeps working for a grace period. */
export function RotateKey(props: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { apiKey, onClose } = props;
  const rotate = useRotateKey();
  if (rotate.data) {
    return (
      <Dialog title={`API key ${rotate.data.name}`} size="lg" locked onClose={onClose}>
        <IssuedKey issued={rotate.data} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <RotateDialog
      title={`Rotate ${apiKey.name}`}
      withoutGrace="the old key stops working immediately"
      pending={rotate.isPending}
      error={rotate.error}
      onRotate={(graceSeconds) => rotate.mutate({ apiKeyId: apiKey.apiKeyId, graceSeconds })}
      onClose={onClose}
    >
      Creates a key with the same name, agents, permissions and limits. The old key stops working
      after the grace period.
    </RotateDialog>
  );
}
