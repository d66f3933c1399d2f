import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { CodeBlock } from '../code/code-block.tsx';

/** A new secret, shown once. Its dialog is locked, so that a click outside cannot lose it. */
export function NewSecret(props: {
  /** Where to store it, and why it cannot be shown again. */
  readonly note: ReactNode;
  readonly label: string;
  readonly secret: string;
  readonly onClose: () => void;
  /** How to use the secret. */
  readonly children?: ReactNode;
}) {
  const { note, label, secret, onClose, children } = props;
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed. Focusing the button below would let a held Enter close the dialog unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Stack gap="md" ref={all} tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
      <p>{note}</p>
      <CodeBlock label={label} code={secret} />
      {children}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
