import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormProblem } from '../form-error.tsx';
import { Dialog, LeaveButton } from './dialog.tsx';

/** Asks before something is done, and says what will happen. Stays open with the server's words where it fails. */
export function ConfirmDialog(props: {
  readonly opened: boolean;
  readonly title: string;
  /** What will happen, in full sentences. */
  readonly children: ReactNode;
  /** The verb of the deed, as on the button that opened it. */
  readonly verb: string;
  readonly destructive?: boolean;
  /** How it goes once it was confirmed. */
  readonly order: { readonly isPending: boolean; readonly error: unknown };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const { destructive = false, order, onClose } = props;
  if (!props.opened) return null;
  return (
    <Dialog title={props.title} locked={order.isPending} onClose={onClose}>
      <Stack gap="lg">
        <div>{props.children}</div>
        <FormProblem error={order.error} />
        <Group justify="flex-end" gap="xs">
          {/* Who opens it by Enter may press it twice, or hold it: that must not destroy anything. */}
          <LeaveButton autoFocus={destructive}>Keep as it is</LeaveButton>
          <Button
            color={destructive ? 'red.9' : 'accent'}
            loading={order.isPending}
            data-autofocus={!destructive || undefined}
            onClick={props.onConfirm}
          >
            {props.verb}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
