import { ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Member } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useRemoveMember } from '../../data/workspace/members.ts';

export function RemoveMember({ member }: { readonly member: Member }) {
  const remove = useRemoveMember();
  const [asked, { open, close }] = useDisclosure();
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
        opened={asked}
        title={`Remove ${member.email}?`}
        verb="Remove"
        destructive
        order={remove}
        onClose={close}
        onConfirm={() => remove.mutate(member.userId, { onSuccess: close })}
      >
        They no longer see this workspace, and every key that they issued is revoked: programs with
        one are answered 401 from their next call on. What they made stays. Secrets of webhooks that
        they saw still hold: rotate those.
      </ConfirmDialog>
    </>
  );
}
