import { Button, Group, Modal, type ModalProps } from '@mantine/core';
import { createContext, type ReactNode, useContext } from 'react';
import { useReturnFocus } from '../hooks/use-return-focus.ts';

/** A dialog that is open while mounted. Returns focus to its opener when it unmounts. */
export function Dialog(props: {
  readonly title: string;
  readonly size?: NonNullable<ModalProps['size']>;
  /**
   * Disables Esc, click outside and the close button: while a call is in flight, and while a value is shown that cannot
   * be shown again.
   */
  readonly locked?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { title, size = 'md', locked = false, onClose, children } = props;
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeOnEscape={!locked}
      closeOnClickOutside={!locked}
      withCloseButton={!locked}
      // `useReturnFocus` does it: Mantine returns focus only if the dialog opens after it has mounted.
      returnFocus={false}
      // A header in each of several stacked dialogs would count as several page banners.
      attributes={{ header: { role: 'presentation' } }}
    >
      <DialogContext value={{ locked, onClose }}>{children}</DialogContext>
    </Modal>
  );
}

const DialogContext = createContext({ locked: false, onClose: () => {} });

/**
 * The button that closes the dialog without a change. Disabled while locked, since the call in flight cannot be undone.
 */
export function DialogCloseButton(props: {
  readonly children: ReactNode;
  readonly autoFocus?: boolean;
}) {
  const { locked, onClose } = useContext(DialogContext);
  return (
    <Button
      variant="default"
      disabled={locked}
      data-autofocus={props.autoFocus || undefined}
      onClick={onClose}
    >
      {props.children}
    </Button>
  );
}

/** The end of a dialog's form: a button that cancels, and the one that submits. */
export function DialogActions(props: {
  readonly submit: string;
  readonly pending?: boolean;
  readonly disabled?: boolean;
}) {
  const { submit, pending = false, disabled = false } = props;
  return (
    <Group justify="flex-end" gap="xs">
      <DialogCloseButton>Cancel</DialogCloseButton>
      <Button type="submit" loading={pending} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  );
}
