import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormProblem } from '../form-error.tsx';
import { Dialog, LeaveButton } from './dialog.tsx';

/** Asks for confirmation and describes the consequences. Stays open with the server's message if the action fails. */
export function ConfirmDialog(props: {
  readonly opened: boolean;
  readonly title: string;
  /** The consequences, in full sentences. */
  readonly children: ReactNode;
  /** The label of the confirm button, same as on the button that opened the dialog. */
  readonly verb: string;
  /** The label of the button that closes the dialog; default: Cancel. */
  readonly cancelLabel?: string;
  readonly destructive?: boolean;
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
          {/* Focused in destructive dialogs: a repeated or held Enter must not confirm. */}
          <LeaveButton autoFocus={destructive}>{props.cancelLabel ?? 'Cancel'}</LeaveButton>
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
