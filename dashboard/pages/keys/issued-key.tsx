import { Button, Group, Stack } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { IssuedApiKey } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code-block.tsx';

/** Shows a new secret once. Its dialog is locked, so that a click outside cannot lose it. */
export function IssuedKey(props: { readonly issued: IssuedApiKey; readonly onClose: () => void }) {
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed. Focusing the button below would let a held Enter close the dialog unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Stack gap="md" ref={all} tabIndex={-1} style={{ outline: 'none' }}>
      <p>
        Copy the key now and store it with your program's secrets. Cueline stores only a hash, so it
        cannot be shown again.
      </p>
      <CodeBlock label="API key" code={props.issued.key} />
      <Group justify="flex-end">
        <Button onClick={props.onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
