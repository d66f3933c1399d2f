import { Button, Modal, type ModalProps } from '@mantine/core';
import { createContext, type ReactNode, useContext } from 'react';
import { useReturnFocus } from '../hooks/use-return-focus.ts';

/** A dialog that is open as long as it is mounted. Closed, it gives the focus back to what opened it. */
export function Dialog(props: {
  readonly title: string;
  readonly size?: NonNullable<ModalProps['size']>;
  /**
   * Neither Esc, nor a click beside it, nor a cross closes it: while a call is under way, whose answer would come to
   * nobody, and while it shows what cannot be shown again.
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
      // The hook does it: this one would return it only where it opens later than it is mounted.
      returnFocus={false}
      // Of several over each other each head would be a banner of the page, which has one at most.
      attributes={{ header: { role: 'presentation' } }}
    >
      <Closing value={{ locked, onClose }}>{children}</Closing>
    </Modal>
  );
}

const Closing = createContext({ locked: false, onClose: () => {} });

/** The button of a dialog that leaves everything as it is. Locked with it: it could not keep what is done already. */
export function LeaveButton(props: { readonly children: ReactNode; readonly autoFocus?: boolean }) {
  const { locked, onClose } = useContext(Closing);
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
