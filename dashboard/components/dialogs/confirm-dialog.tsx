import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormError } from '../states/form-error.tsx';
import { Dialog, DialogCloseButton } from './dialog.tsx';

/** Asks for confirmation and describes the consequences. Stays open with the server's message if the action fails. */
export function ConfirmDialog(props: {
  readonly opened: boolean;
  readonly title: string;
  /** The consequences, in full sentences. */
  readonly children: ReactNode;
  /** The label of the confirm button, same as on the button that opened the dialog. */
  readonly confirmLabel: string;
  /** The label of the button that closes the dialog; default: Cancel. */
  readonly cancelLabel?: string;
  readonly destructive?: boolean;
  readonly mutation: { readonly isPending: boolean; readonly error: unknown };
  /** Null if nothing is left to confirm, which hides the button. */
  readonly onConfirm: (() => void) | null;
  readonly onClose: () => void;
}) {
  const { destructive = false, mutation, onClose } = props;
  if (!props.opened) return null;
  return (
    <Dialog title={props.title} locked={mutation.isPending} onClose={onClose}>
      <Stack gap="lg">
        <div>{props.children}</div>
        <FormError error={mutation.error} />
        <Group justify="flex-end" gap="xs">
          {/* Focused in destructive dialogs: a repeated or held Enter must not confirm. */}
          <DialogCloseButton autoFocus={destructive}>
            {props.cancelLabel ?? 'Cancel'}
          </DialogCloseButton>
          {props.onConfirm && (
            <Button
              color={destructive ? 'red.9' : 'accent'}
              loading={mutation.isPending}
              data-autofocus={!destructive || undefined}
              onClick={props.onConfirm}
            >
              {props.confirmLabel}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
