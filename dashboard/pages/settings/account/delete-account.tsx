import { Button } from '@mantine/core';
import { serverPath } from '../../../data/client/base-path.ts';
import { chooseWorkspace, cueline } from '../../../data/client/client.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { leaving } from '../../../kit/deletion.ts';
import { openDialog } from '../../../kit/dialog.tsx';

/** Deletes the account of the signed-in user, who need not have a workspace. */
export function DeleteAccount({ fullWidth = false }: { fullWidth?: boolean }) {
  return (
    <div>
      <Button
        fullWidth={fullWidth}
        variant="default"
        c="var(--bad)"
        onClick={() => openDialog(<DeleteAccountDialog />)}
      >
        Delete account
      </Button>
    </div>
  );
}

function DeleteAccountDialog() {
  return (
    <ConfirmDialog
      title="Delete your account?"
      confirm="Delete account"
      action={leaving(async () => {
        await cueline.deleteMe();
        // What the window remembers, like signing out.
        chooseWorkspace(null);
        sessionStorage.clear();
        location.assign(serverPath('/sign-in'));
      })}
    >
      You leave every workspace, and all keys that you created are revoked: calls with them will
      fail with 401. Your name, email address and password are deleted. This cannot be undone.
      Everything else you created stays.
    </ConfirmDialog>
  );
}
