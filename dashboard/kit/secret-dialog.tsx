import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { CodeBlock } from '../components/code/code-block.tsx';
import { Dialog, type DialogWidth, useCloseDialog } from './dialog.tsx';

interface NewSecret {
  /** Where to store it, and why it cannot be shown again. */
  readonly note: ReactNode;
  readonly label: string;
  readonly secret: string;
  /** How to use the secret. */
  readonly children?: ReactNode;
}

/** Shows a new secret once. The dialog is locked, so that a click outside cannot lose it. */
export function SecretDialog(
  props: NewSecret & {
    readonly title: string;
    readonly width?: DialogWidth;
    readonly onClose?: (() => void) | undefined;
  },
) {
  const { title, width = 'medium', onClose, ...shown } = props;
  return (
    <Dialog title={title} width={width} locked onClose={onClose}>
      <NewSecret {...shown} />
    </Dialog>
  );
}

function NewSecret({ note, label, secret, children }: NewSecret) {
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed. Focusing the button below would let a held Enter close the dialog unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Stack gap="md" ref={all} tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
      <p>{note}</p>
      <CodeBlock label={label} code={secret} />
      {children}
      <Group justify="flex-end">
        <Button onClick={useCloseDialog()}>Done</Button>
      </Group>
    </Stack>
  );
}
