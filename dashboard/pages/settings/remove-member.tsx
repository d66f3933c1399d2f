import { ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Member } from '../../../src/client/index.ts';
import { chooseWorkspace } from '../../data/client.ts';
import { useMe } from '../../data/me.ts';
import { useRemoveMember } from '../../data/members.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Icon } from '../../parts/icon.tsx';

export function RemoveMember({ member }: { readonly member: Member }) {
  const isMe = useMe().user.userId === member.userId;
  const remove = useRemoveMember();
  const removed = () => {
    if (!isMe) return close();
    // Nothing of this workspace is theirs to see any more: the page begins anew, in another one if they have one.
    chooseWorkspace(null);
    location.assign('/');
  };
  const [asked, { open, close }] = useDisclosure();
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--text)"
        aria-label={isMe ? 'Leave this workspace' : `Remove ${member.email}`}
        title={isMe ? 'Leave' : 'Remove'}
        onClick={open}
      >
        <Icon name="close" />
      </ActionIcon>
      <ConfirmDialog
        opened={asked}
        title={isMe ? 'Leave this workspace?' : `Remove ${member.email}?`}
        verb={isMe ? 'Leave' : 'Remove'}
        destructive
        pending={remove.isPending}
        error={remove.error}
        onClose={close}
        onConfirm={() => remove.mutate(member.userId, { onSuccess: removed })}
      >
        {isMe ? 'You' : 'They'} no longer see this workspace, and every key that{' '}
        {isMe ? 'you' : 'they'} issued is revoked: programs with one are answered 401 from their
        next call on. What {isMe ? 'you' : 'they'} made stays. Secrets of webhooks that{' '}
        {isMe ? 'you' : 'they'} saw still hold: rotate those.
      </ConfirmDialog>
    </>
  );
}
