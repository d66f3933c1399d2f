import { Button, Group, Stack } from '@mantine/core';
import type { IssuedWebhook } from '../../../src/client/index.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { WebhookSnippets } from './webhook-snippets.tsx';

/** The secret, this once. Only its button closes it: a click beside it would lose what nobody can show again. */
export function IssuedSecret(props: {
  readonly issued: IssuedWebhook;
  readonly onClose: () => void;
}) {
  const { issued, onClose } = props;
  return (
    <Dialog locked={true} onClose={onClose} title={`The secret of ${issued.name}`} size="lg">
      <Stack gap="md">
        <p>
          Copy it now and keep it where the sender reads its secrets. It is stored sealed, and
          cannot be shown again.
        </p>
        <CodeBlock label="Secret" code={issued.secret} />
        <WebhookSnippets workflowId={issued.workflowId} path={issued.path} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
