import { Button, Group, Modal, Stack } from '@mantine/core';
import type { IssuedApiKey } from '../../../src/client/index.ts';
import { CodeBlock } from '../../parts/code-block.tsx';

/** The secret, this once. Only its button closes it: a click beside it would lose what nobody can show again. */
export function IssuedKey(props: { readonly issued: IssuedApiKey; readonly onClose: () => void }) {
  const { issued, onClose } = props;
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      title={`The key ${issued.name}`}
      size="lg"
    >
      <Stack gap="md">
        <p>
          Copy it now and keep it where your program reads its secrets. Only its fingerprint is
          stored here, so it cannot be shown again.
        </p>
        <CodeBlock label="API key" code={issued.key} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
