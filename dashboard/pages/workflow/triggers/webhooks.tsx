import { useQuery } from '@tanstack/react-query';
import type { IssuedWebhook } from '../../../../src/client/index.ts';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Card } from '../../../components/layout/card.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { rotateWebhook, type Webhook, webhooks } from '../../../data/workflows/triggers.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { useMemberNames } from '../../../data/workspace/member-names.ts';
import { ConfirmDialog, SmallButton } from '../../../kit/confirm-dialog.tsx';
import { Dialog, openDialog } from '../../../kit/dialog.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { RowMenu } from '../../../kit/row-menu.tsx';
import { SecretDialog } from '../../../kit/secret-dialog.tsx';
import classes from './triggers.module.css';
import { WebhookSnippets } from './webhook-snippets.tsx';

/** URLs that start the workflow when they receive signed events. */
export function Webhooks({ workflowId }: { readonly workflowId: string }) {
  const canEdit = can(useMe(), 'edit');
  const listed = useQuery({
    ...webhooks.list(workflowId, { limit: 100 }),
    select: (page) => page.webhooks,
  });
  return (
    <Card
      title="Webhooks"
      actions={
        canEdit && (
          <SmallButton
            label="New webhook"
            leftSection={<Icon name="plus" size={12} />}
            onClick={() => openDialog(<NewWebhook workflowId={workflowId} />)}
          />
        )
      }
    >
      <List
        caption="Configured webhooks"
        query={listed}
        rows={(all) => all}
        rowKey={({ webhookId }) => webhookId}
        columns={columns}
        actions={(webhook) => (
          <RowMenu
            name={webhook.name}
            actions={[
              ['Example request', () => openDialog(<Example webhook={webhook} />)],
              canEdit && ['Rotate secret', () => openDialog(<Rotate webhook={webhook} />)],
              canEdit && ['Delete', () => openDialog(<Delete webhook={webhook} />), 'bad'],
            ]}
          />
        )}
        empty="No webhooks yet. A webhook is a URL that starts the workflow for each signed event. The event's JSON object is the input."
      />
    </Card>
  );
}

const columns: readonly Column<Webhook>[] = [
  { header: 'Name', cell: ({ name }) => <span className="name">{name}</span> },
  {
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
    header: 'Created by',
    hideBelow: 'md',
    cell: ({ createdBy }) => <Creator userId={createdBy} />,
  },
  {
    header: 'Created',
    hideBelow: 'md',
    cell: ({ createdAt }) => <Time at={createdAt} relative />,
  },
];

function Creator({ userId }: { readonly userId: string | null }) {
  return useMemberNames()(userId);
}

function NewWebhook({ workflowId }: { readonly workflowId: string }) {
  return (
    <FormDialog
      title="New webhook"
      submit="Create webhook"
      action={webhooks.create(workflowId)}
      start={{ name: '' }}
      input={(values) => values}
      fields={() => [
        {
          name: 'name',
          label: 'Name',
          description: 'The source of the events',
          required: true,
          maxLength: 200,
        },
      ]}
      done={(issued) => <WebhookSecret issued={issued} />}
    />
  );
}

interface Props {
  readonly webhook: Webhook;
}

function Example({ webhook: { name, workflowId, path } }: Props) {
  return (
    <Dialog title={`Send an event to ${name}`} width="medium">
      <WebhookSnippets workflowId={workflowId} path={path} />
    </Dialog>
  );
}

function Rotate({ webhook }: Props) {
  return (
    <ConfirmDialog
      title={`Rotate the secret of ${webhook.name}?`}
      confirm="Rotate"
      action={rotateWebhook(webhook)}
      done={(issued) => <WebhookSecret issued={issued} />}
    >
      The old secret stops working: events signed with it will fail with 401 until the sender uses
      the new one.
    </ConfirmDialog>
  );
}

function Delete({ webhook: { name, workflowId, webhookId } }: Props) {
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      confirm="Delete"
      action={webhooks.remove(workflowId, webhookId)}
    >
      Events sent to its URL will fail with 401. This cannot be undone. Workflow runs that it
      started continue.
    </ConfirmDialog>
  );
}

function WebhookSecret({ issued }: { readonly issued: IssuedWebhook }) {
  return (
    <SecretDialog
      title={`Secret of ${issued.name}`}
      note="Copy the secret now and store it with the sender's secrets. Cueline stores it encrypted and cannot show it again."
      label="Secret"
      secret={issued.secret}
    >
      <WebhookSnippets workflowId={issued.workflowId} path={issued.path} />
    </SecretDialog>
  );
}
