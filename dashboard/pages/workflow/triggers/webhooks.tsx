import { TextInput } from '@mantine/core';
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
import { WebhookLog } from './webhook-log.tsx';
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
              ['Events', () => openDialog(<WebhookLog webhook={webhook} />)],
              ['Set up', () => openDialog(<SetUp webhook={webhook} />)],
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
    header: 'URL',
    hideBelow: 'sm',
    cell: ({ name, path }) => <Address name={name} path={path} />,
  },
  {
    header: 'Signed as',
    hideBelow: 'lg',
    cell: ({ signature }) => signatureNames[signature],
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

/** The whole URL, to be copied or selected. */
function Address({ name, path }: Pick<Webhook, 'name' | 'path'>) {
  const url = location.origin + path;
  return (
    <TextInput
      miw="min(24rem, 60vw)"
      size="xs"
      readOnly
      aria-label={`URL of ${name}`}
      value={url}
      onFocus={({ currentTarget }) => currentTarget.select()}
      rightSection={<CopyButton text={url} name={`URL of ${name}`} />}
    />
  );
}

const signatureNames: Readonly<Record<Webhook['signature'], string>> = {
  standard: 'Standard Webhooks',
  github: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
};

/** Where the sender shows or takes the secret. */
const secretHints: Readonly<Record<Webhook['signature'], string>> = {
  standard: 'Leave empty for a new one.',
  github: 'The text under Secret of the webhook at GitHub. Leave empty for a new one.',
  stripe:
    'Stripe shows the signing secret once the endpoint exists: create this webhook first, then rotate its secret.',
  slack: 'The signing secret under Basic Information of the Slack app.',
};

function secretField(signature: Webhook['signature']) {
  return {
    name: 'secret',
    label: 'Secret of the sender',
    description: secretHints[signature],
    maxLength: 255,
    autoComplete: 'off',
  } as const;
}

const chosenSecret = (secret: string) => (secret === '' ? {} : { secret });

function Creator({ userId }: { readonly userId: string | null }) {
  return useMemberNames()(userId);
}

function NewWebhook({ workflowId }: { readonly workflowId: string }) {
  return (
    <FormDialog
      title="New webhook"
      submit="Create webhook"
      action={webhooks.create(workflowId)}
      start={{ name: '', signature: 'standard' as Webhook['signature'], secret: '' }}
      input={({ secret, ...values }) => ({ ...values, ...chosenSecret(secret) })}
      fields={({ values }) => [
        {
          name: 'name',
          label: 'Name',
          description: 'The source of the events',
          required: true,
          maxLength: 200,
        },
        {
          name: 'signature',
          label: 'Signed as',
          options: Object.entries(signatureNames).map(([value, label]) => ({ value, label })),
        },
        secretField(values.signature),
      ]}
      done={(issued) => <WebhookSecret issued={issued} />}
    />
  );
}

interface Props {
  readonly webhook: Webhook;
}

function SetUp({ webhook }: Props) {
  return (
    <Dialog title={`Send events to ${webhook.name}`} width="medium">
      <HowToSend webhook={webhook} />
    </Dialog>
  );
}

/** The URL, and code that sends an event if the sender has to be written. */
function HowToSend({ webhook: { name, workflowId, path, signature } }: Props) {
  return (
    <div className="stack">
      <Address name={name} path={path} />
      {signature === 'standard' ? (
        <WebhookSnippets workflowId={workflowId} path={path} />
      ) : (
        <p>
          Enter this URL and the secret at {signatureNames[signature]}. Events must be JSON
          {signature === 'github' && ': choose the content type application/json'}.
        </p>
      )}
    </div>
  );
}

function Rotate({ webhook }: Props) {
  return (
    <FormDialog
      title={`Rotate the secret of ${webhook.name}?`}
      submit="Rotate"
      intro="The old secret stops working: events signed with it will fail with 401 until the sender uses the new one."
      action={rotateWebhook(webhook)}
      start={{ secret: '' }}
      input={({ secret }) => chosenSecret(secret)}
      fields={() => [secretField(webhook.signature)]}
      done={(issued) => <WebhookSecret issued={issued} />}
    />
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
      <HowToSend webhook={issued} />
    </SecretDialog>
  );
}
