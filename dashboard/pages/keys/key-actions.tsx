import { Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ApiKey } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RowMenu } from '../../components/tables/row-menu.tsx';
import { keyStateOf, useRevokeKey } from '../../data/workspace/keys.ts';
import { EditKey } from './edit-key.tsx';

/** Actions of an active key. */
export function KeyActions(props: { readonly apiKey: ApiKey; readonly onRotate: () => void }) {
  const { apiKey, onRotate } = props;
  const revoke = useRevokeKey();
  const [revoking, { open: askRevoke, close: leaveRevoke }] = useDisclosure();
  const [editing, { open: openEdit, close: closeEdit }] = useDisclosure();
  if (keyStateOf(apiKey) !== 'active') return null;
  return (
    <>
      <RowMenu name={apiKey.name}>
        <Menu.Item onClick={openEdit}>Edit</Menu.Item>
        <Menu.Item onClick={onRotate}>Rotate</Menu.Item>
        <Menu.Item color="var(--bad)" onClick={askRevoke}>
          Revoke
        </Menu.Item>
      </RowMenu>
      {editing && <EditKey apiKey={apiKey} onClose={closeEdit} />}
      <ConfirmDialog
        opened={revoking}
        title={`Revoke ${apiKey.name}?`}
        confirmLabel="Revoke"
        destructive
        mutation={revoke}
        onClose={leaveRevoke}
        onConfirm={() => revoke.mutate(apiKey.apiKeyId, { onSuccess: leaveRevoke })}
      >
        Calls with <code>{apiKey.start}…</code> will fail with 401 immediately, and this cannot be
        undone. Executions in progress continue. To replace the key without downtime, rotate it.
      </ConfirmDialog>
    </>
  );
}
