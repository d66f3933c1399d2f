import { Button, Group, Stack } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';

/** Shows a new secret once. The dialog is locked, so that a click outside cannot lose it. */
export function EndpointSecret(props: { readonly secret: string; readonly onClose: () => void }) {
  const all = useRef<HTMLDivElement>(null);
  // The focused button was removed. Focusing the button below would let a held Enter close the dialog unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Dialog title="Signing secret" size="lg" locked onClose={props.onClose}>
      <Stack gap="md" ref={all} tabIndex={-1} style={{ outline: 'none' }}>
        <p>
          Copy the secret now and store it with the receiver’s secrets: it verifies that events come
          from Cueline. It is stored encrypted and cannot be shown again.
        </p>
        <CodeBlock label="Secret" code={props.secret} />
        <Group justify="flex-end">
          <Button onClick={props.onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
