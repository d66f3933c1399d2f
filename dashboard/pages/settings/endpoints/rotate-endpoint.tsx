import { RotateDialog } from '../../../components/dialogs/rotate-dialog.tsx';
import { useRotateEndpoint } from '../../../data/workspace/endpoints.ts';
import { EndpointSecret } from './endpoint-secret.tsx';

/** Replaces the secret; both sign during the grace period. */
export function RotateEndpoint(props: {
  readonly endpointId: string;
  readonly onClose: () => void;
}) {
  const { endpointId, onClose } = props;
  const rotate = useRotateEndpoint(endpointId);
  if (rotate.data) return <EndpointSecret secret={rotate.data} onClose={onClose} />;
  return (
    <RotateDialog
      title="Rotate secret"
      withoutGrace="only the new secret signs"
      pending={rotate.isPending}
      error={rotate.error}
      onRotate={(graceSeconds) => rotate.mutate(graceSeconds)}
      onClose={onClose}
    >
      Creates a new secret. During the grace period both secrets sign each event.
    </RotateDialog>
  );
}
