import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReceivedEvent } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { type Webhook, webhookLogQuery } from '../../../data/workflows/triggers.ts';
import { Dialog, DialogCloseButton } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';

/** The last events of a webhook. */
export function WebhookLog({ webhook }: { readonly webhook: Webhook }) {
  const log = useQuery(webhookLogQuery(webhook));
  return (
    <Dialog width="large" title={`Events of ${webhook.name}`}>
      <div className="stack">
        <List
          caption="Events"
          query={log}
          rows={({ events }) => events.map((event, index) => ({ ...event, index }))}
          rowKey={({ index }) => String(index)}
          columns={columnsOf(webhook.workflowId)}
          intro="The last 100 events, newest first. Bodies are not kept."
          empty="No event has arrived yet."
        />
        <Group justify="flex-end">
          <DialogCloseButton>Close</DialogCloseButton>
        </Group>
      </div>
    </Dialog>
  );
}

const columnsOf = (workflowId: string): readonly Column<ReceivedEvent & { index: number }>[] => [
  { header: 'Arrived', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
  {
    header: 'Response',
    cell: ({ outcome, status }) => (
      <StateBadge tone={outcome === 'received' ? 'good' : 'bad'} text={`${status} ${outcome}`} />
    ),
  },
  {
    header: 'Result',
    cell: ({ workflowRunId, message }) =>
      workflowRunId === null ? (
        (message ?? 'Answered the challenge')
      ) : (
        <Link
          to="/workflows/$workflowId/runs/$workflowRunId"
          params={{ workflowId, workflowRunId }}
        >
          Workflow run
        </Link>
      ),
  },
  {
    header: 'Event ID',
    hideBelow: 'md',
    cell: ({ eventId }) => eventId && <code>{eventId}</code>,
  },
];
