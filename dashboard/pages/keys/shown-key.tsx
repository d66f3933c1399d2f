import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { CodeBlock } from '../../components/code/code-block.tsx';

/** A new key, shown once, with what belongs to it. */
export function ShownKey(props: {
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}) {
  const { secret, onClose, children } = props;
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed. Focusing the button below would let a held Enter close the dialog unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Stack gap="md" ref={all} tabIndex={-1} style={{ outline: 'none' }}>
      <p>
        Copy the key now and store it with your program's secrets. Cueline stores only a hash, so it
        cannot be shown again.
      </p>
      <CodeBlock label="API key" code={secret} />
      {children}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
