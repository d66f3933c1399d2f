import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { serverPath } from '../../../data/client/base-path.ts';
import { chooseWorkspace, cueline } from '../../../data/client/client.ts';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';

/** Deletes the account of the signed-in user, who need not have a workspace. */
export function DeleteAccount({ fullWidth = false }: { fullWidth?: boolean }) {
  const remove = useDeleteAccount();
  const [isConfirming, { open, close }] = useDisclosure();
  return (
    <>
      <div>
        <Button fullWidth={fullWidth} variant="default" onClick={open}>
          Delete account
        </Button>
      </div>
      <ConfirmDialog
        opened={isConfirming}
        title="Delete your account?"
        confirmLabel="Delete account"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        You leave every workspace, and all keys that you created are revoked: calls with them will
        fail with 401. Your name, email address and password are deleted. This cannot be undone.
        Everything else you created stays.
      </ConfirmDialog>
    </>
  );
}

/** Clears what the window remembers, like signing out. */
function useDeleteAccount() {
  return useSingleFlight(
    {
      mutationFn: () => cueline.deleteMe(),
      onSuccess: () => {
        chooseWorkspace(null);
        sessionStorage.clear();
        location.assign(serverPath('/sign-in'));
      },
    },
    { leadsAway: true },
  );
}
