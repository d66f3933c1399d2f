import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { type Webhook, webhooksQuery } from '../../../data/workflows/triggers.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { useMemberNames } from '../../../data/workspace/member-names.ts';
import { NewWebhook } from './new-webhook.tsx';
import { RotateWebhook } from './rotate-webhook.tsx';
import classes from './triggers.module.css';
import { WebhookActions } from './webhook-actions.tsx';

/** URLs that start the workflow when they receive signed events. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one page: a table and its dialogs, in one piece of markup
export function Webhooks({ workflowId }: { readonly workflowId: string }) {
  const webhooks = useQuery(webhooksQuery(workflowId));
  const nameOf = useMemberNames();
  const canEdit = can(useMe(), 'edit');
  const [opened, { open, close }] = useDisclosure();
  const [webhookToRotate, setWebhookToRotate] = useState<Webhook | null>(null);
  const columns: readonly Column<Webhook>[] = [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name }) => <span className={classes.name}>{name}</span>,
    },
    {
      key: 'address',
      header: 'URL path',
      hideBelow: 'sm',
      cell: ({ name, path }) => (
        <span className={classes.address}>
          <code>{path}</code>
          <CopyButton text={location.origin + path} name={`URL of ${name}`} />
        </span>
      ),
    },
    {
      key: 'by',
      header: 'Created by',
      hideBelow: 'md',
      cell: ({ createdBy }) => nameOf(createdBy),
    },
    {
      key: 'created',
      header: 'Created',
      hideBelow: 'md',
      cell: ({ createdAt }) => <Time at={createdAt} relative />,
    },
    {
      key: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (webhook) => (
        <WebhookActions
          webhook={webhook}
          canEdit={canEdit}
          onRotate={() => setWebhookToRotate(webhook)}
        />
      ),
    },
  ];
  return (
    <Card
      title="Webhooks"
      actions={
        canEdit && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="plus" size={12} />}
            onClick={open}
          >
            New webhook
          </Button>
        )
      }
    >
      <StaleNotice query={webhooks} />
      {webhooks.isError && !webhooks.data ? (
        <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} />
      ) : webhooks.data?.webhooks.length === 0 ? (
        <p className={classes.muted}>
          No webhooks yet. A webhook is a URL that starts the workflow for each signed event. The
          event's JSON object is the input.
        </p>
      ) : (
        <div className={classes.rows}>
          <DataTable
            caption="Configured webhooks"
            columns={columns}
            rows={webhooks.data?.webhooks}
            rowKey={({ webhookId }) => webhookId}
            loadingRows={2}
          />
        </div>
      )}
      {opened && <NewWebhook workflowId={workflowId} onClose={close} />}
      {webhookToRotate && (
        <RotateWebhook webhook={webhookToRotate} onClose={() => setWebhookToRotate(null)} />
      )}
    </Card>
  );
}
