import { Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ApiKey } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { standingOf, useRevokeKey } from '../../data/workspace/keys.ts';

/** What can be done with a key that still works. */
export function KeyActions(props: { readonly apiKey: ApiKey; readonly onRotate: () => void }) {
  const { apiKey, onRotate } = props;
  const revoke = useRevokeKey();
  const [revoking, { open: askRevoke, close: leaveRevoke }] = useDisclosure();
  if (standingOf(apiKey) !== 'active') return null;
  return (
    <>
      <RowMenu name={apiKey.name}>
        <Menu.Item onClick={onRotate}>Rotate</Menu.Item>
        <Menu.Item color="var(--bad)" onClick={askRevoke}>
          Revoke
        </Menu.Item>
      </RowMenu>
      <ConfirmDialog
        opened={revoking}
        title={`Revoke ${apiKey.name}?`}
        verb="Revoke"
        destructive
        order={revoke}
        onClose={leaveRevoke}
        onConfirm={() => revoke.mutate(apiKey.apiKeyId, { onSuccess: leaveRevoke })}
      >
        At once and for good: every program that still shows <code>{apiKey.start}…</code> is
        answered 401 from its next call on. Runs under way end as usual. To replace it without a
        gap, rotate it.
      </ConfirmDialog>
    </>
  );
}
