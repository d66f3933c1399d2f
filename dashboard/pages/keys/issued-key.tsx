import { Button, Group, Stack } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { IssuedApiKey } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code-block.tsx';

/** The secret, this once. Its dialog is locked: a click beside it would lose what nobody can show again. */
export function IssuedKey(props: { readonly issued: IssuedApiKey; readonly onClose: () => void }) {
  const all = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone. Not on the one below: whoever held Enter would close it unseen.
  useEffect(() => all.current?.focus(), []);
  return (
    <Stack gap="md" ref={all} tabIndex={-1} style={{ outline: 'none' }}>
      <p>
        Copy it now and keep it where your program reads its secrets. Only its fingerprint is stored
        here, so it cannot be shown again.
      </p>
      <CodeBlock label="API key" code={props.issued.key} />
      <Group justify="flex-end">
        <Button onClick={props.onClose}>I have stored it</Button>
      </Group>
    </Stack>
  );
}
