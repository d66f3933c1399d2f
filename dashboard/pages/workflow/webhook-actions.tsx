import { Menu } from '@mantine/core';
import { useState } from 'react';
import { useDeleteWebhook, useRotateWebhook, type Webhook } from '../../data/triggers.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { RowMenu } from '../../parts/row-menu.tsx';
import { IssuedSecret } from './issued-secret.tsx';
import { WebhookSnippets } from './webhook-snippets.tsx';

export function WebhookActions(props: { readonly webhook: Webhook; readonly mayEdit: boolean }) {
  const { webhookId, workflowId, name, path } = props.webhook;
  const [asked, setAsked] = useState<'send' | 'rotate' | 'delete' | null>(null);
  const rotate = useRotateWebhook(workflowId);
  const remove = useDeleteWebhook(workflowId);
  const close = () => setAsked(null);
  const ask = (what: 'send' | 'rotate' | 'delete') => {
    rotate.reset();
    remove.reset();
    setAsked(what);
  };
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => ask('send')}>How to send</Menu.Item>
        {props.mayEdit && <Menu.Item onClick={() => ask('rotate')}>Rotate the secret</Menu.Item>}
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
      {rotate.data && asked === 'rotate' ? (
        <IssuedSecret issued={rotate.data} onClose={close} />
      ) : (
        <ConfirmDialog
          opened={asked === 'rotate'}
          title={`Rotate the secret of ${name}?`}
          verb="Rotate"
          destructive
          pending={rotate.isPending}
          error={rotate.error}
          onClose={close}
          onConfirm={() => rotate.mutate(webhookId)}
        >
          The old secret does not hold any more: events that are still signed with it are answered
          401 until their sender has the new one.
        </ConfirmDialog>
      )}
      <ConfirmDialog
        opened={asked === 'delete'}
        title={`Delete ${name}?`}
        verb="Delete"
        destructive
        pending={remove.isPending}
        error={remove.error}
        onClose={close}
        onConfirm={() => remove.mutate(webhookId, { onSuccess: close })}
      >
        Events that are sent to its address are answered 401 from then on, and nothing brings it
        back. Runs that it has started go on.
      </ConfirmDialog>
    </>
  );
}
