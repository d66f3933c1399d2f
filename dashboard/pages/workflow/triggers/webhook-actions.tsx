import { Menu } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { RowMenu } from '../../../components/tables/row-menu.tsx';
import { useDeleteWebhook, type Webhook } from '../../../data/workflows/triggers.ts';
import { WebhookSnippets } from './webhook-snippets.tsx';

export function WebhookActions(props: {
  readonly webhook: Webhook;
  readonly canEdit: boolean;
  readonly onRotate: () => void;
}) {
  const { webhookId, workflowId, name, path } = props.webhook;
  const [dialog, setDialog] = useState<'send' | 'delete' | null>(null);
  const remove = useDeleteWebhook(workflowId);
  const close = () => setDialog(null);
  const openDialog = (name: 'send' | 'delete') => {
    remove.reset();
    setDialog(name);
  };
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => openDialog('send')}>Example request</Menu.Item>
        {props.canEdit && <Menu.Item onClick={props.onRotate}>Rotate secret</Menu.Item>}
        {props.canEdit && (
          <Menu.Item color="var(--bad)" onClick={() => openDialog('delete')}>
            Delete
          </Menu.Item>
        )}
      </RowMenu>
      {dialog === 'send' && (
        <Dialog onClose={close} title={`Send an event to ${name}`} size="lg">
          <WebhookSnippets workflowId={workflowId} path={path} />
        </Dialog>
      )}
      <ConfirmDialog
        opened={dialog === 'delete'}
        title={`Delete ${name}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate(webhookId, { onSuccess: close })}
      >
        Events sent to its URL will fail with 401. This cannot be undone. Workflow runs that it
        started continue.
      </ConfirmDialog>
    </>
  );
}
