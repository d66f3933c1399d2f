import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useLeaveWorkspace } from '../../data/workspace/members.ts';

/** Beside one's own row; whoever can remove others can do that as well. */
export function LeaveWorkspace() {
  const leave = useLeaveWorkspace();
  const [asked, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" aria-label="Leave this workspace" onClick={open}>
        Leave
      </Button>
      <ConfirmDialog
        opened={asked}
        title="Leave this workspace?"
        verb="Leave"
        destructive
        order={leave}
        onClose={close}
        onConfirm={() => leave.mutate()}
      >
        You no longer see this workspace, and every key that you issued is revoked: programs with
        one are answered 401 from their next call on. What you made stays. Only an owner can let you
        in again.
      </ConfirmDialog>
    </>
  );
}
