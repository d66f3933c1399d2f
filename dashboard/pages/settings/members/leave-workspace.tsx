import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { useLeaveWorkspace } from '../../../data/workspace/members.ts';

/** Shown in the user's own row instead of Remove. */
export function LeaveWorkspace() {
  const leave = useLeaveWorkspace();
  const [isConfirming, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" aria-label="Leave this workspace" onClick={open}>
        Leave
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        title="Leave this workspace?"
        confirmLabel="Leave"
        destructive
        mutation={leave}
        onClose={close}
        onConfirm={() => leave.mutate()}
      >
        You lose access to this workspace, and all keys that you created are revoked: calls with
        them will fail with 401. Everything else you created stays. Only an owner can invite you
        again.
      </ConfirmDialog>
    </>
  );
}
