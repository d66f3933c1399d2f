import { ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Member } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useRemoveMember } from '../../../data/workspace/members.ts';

export function RemoveMember({ member }: { readonly member: Member }) {
  const remove = useRemoveMember();
  const [isConfirming, { open, close }] = useDisclosure();
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--text)"
        aria-label={`Remove ${member.email}`}
        title="Remove"
        onClick={open}
      >
        <Icon name="close" />
      </ActionIcon>
      <ConfirmDialog
        opened={isConfirming}
        title={`Remove ${member.email}?`}
        confirmLabel="Remove"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate(member.userId, { onSuccess: close })}
      >
        They lose access to this workspace, and all keys that they created are revoked: calls with
        them will fail with 401. Everything else they created stays. Webhook secrets that they know
        stay valid: rotate them.
      </ConfirmDialog>
    </>
  );
}
