import { Button, Group, Stack } from '@mantine/core';
import type { IssuedWebhook } from '../../../../src/client/index.ts';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { WebhookSnippets } from './webhook-snippets.tsx';

/** Shows a new secret once. The dialog is locked, so that a click outside cannot lose it. */
export function IssuedSecret(props: {
  readonly issued: IssuedWebhook;
  readonly onClose: () => void;
}) {
  const { issued, onClose } = props;
  return (
    <Dialog locked={true} onClose={onClose} title={`Secret of ${issued.name}`} size="lg">
      <Stack gap="md">
        <p>
          Copy the secret now and store it with the sender's secrets. Cueline stores it encrypted
          and cannot show it again.
        </p>
        <CodeBlock label="Secret" code={issued.secret} />
        <WebhookSnippets workflowId={issued.workflowId} path={issued.path} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
