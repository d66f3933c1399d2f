import { Menu } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { useDeleteWebhook, type Webhook } from '../../data/workflows/triggers.ts';
import { WebhookSnippets } from './webhook-snippets.tsx';

export function WebhookActions(props: {
  readonly webhook: Webhook;
  readonly mayEdit: boolean;
  readonly onRotate: () => void;
}) {
  const { webhookId, workflowId, name, path } = props.webhook;
  const [asked, setAsked] = useState<'send' | 'delete' | null>(null);
  const remove = useDeleteWebhook(workflowId);
  const close = () => setAsked(null);
  const ask = (what: 'send' | 'delete') => {
    remove.reset();
    setAsked(what);
  };
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => ask('send')}>Example request</Menu.Item>
        {props.mayEdit && <Menu.Item onClick={props.onRotate}>Rotate secret</Menu.Item>}
        {props.mayEdit && (
          <Menu.Item color="var(--bad)" onClick={() => ask('delete')}>
            Delete
          </Menu.Item>
        )}
      </RowMenu>
      {asked === 'send' && (
        <Dialog onClose={close} title={`Send an event to ${name}`} size="lg">
          <WebhookSnippets workflowId={workflowId} path={path} />
        </Dialog>
      )}
      <ConfirmDialog
        opened={asked === 'delete'}
        title={`Delete ${name}?`}
        verb="Delete"
        destructive
        order={remove}
        onClose={close}
        onConfirm={() => remove.mutate(webhookId, { onSuccess: close })}
      >
        Events sent to its URL will fail with 401. This cannot be undone. Workflow runs that it
        started continue.
      </ConfirmDialog>
    </>
  );
}
