import { Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Delivery } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { deliveriesQuery, replay } from '../../../data/workspace/endpoint-actions.ts';
import { SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';

type State = Delivery['state'];
const states = [
  { value: '', label: 'All states' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
];

/** The delivery log of an endpoint, newest first. */
export function Deliveries(props: { readonly endpointId: string; readonly enabled: boolean }) {
  const { endpointId, enabled } = props;
  const [state, setState] = useState<State | ''>('');
  // Of the pages after the first one, up to the current one.
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const filters = { ...(state && { state }), ...(cursor !== undefined && { cursor }) };
  const page = useQuery(deliveriesQuery(endpointId, filters));
  const next = page.data?.nextCursor;
  return (
    <Card
      title="Delivery log"
      actions={
        <Group gap="xs">
          <NativeSelect
            size="xs"
            aria-label="State"
            data={states}
            value={state}
            onChange={({ currentTarget }) => {
              setState(currentTarget.value as State | '');
              setCursors([]);
            }}
          />
          <SmallButton
            label="Replay…"
            disabled={!enabled}
            onClick={() => openDialog(<ReplayDialog endpointId={endpointId} />)}
          />
        </Group>
      }
    >
      <List
        caption="Deliveries"
        query={page}
        rows={({ deliveries }) => deliveries}
        rowKey={({ eventId }) => eventId}
        columns={columns}
        actions={(delivery) => (
          <SmallButton
            label="Details"
            of={`of ${delivery.eventId}`}
            onClick={() =>
              openDialog(
                <DeliveryDialog {...{ endpointId, filters, delivery }} canResend={enabled} />,
              )
            }
          />
        )}
        loadingRows={5}
        empty={{
          icon: 'history',
          title: 'No deliveries',
          text: 'Events that are sent to this endpoint appear here for 30 days.',
        }}
      />
      {(cursors.length > 0 || next !== undefined) && (
        <Group gap="xs" mt="md" justify="flex-end">
          <SmallButton
            label="Newer"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          />
          <SmallButton
            label="Older"
            disabled={next === undefined}
            onClick={() => next !== undefined && setCursors([...cursors, next])}
          />
        </Group>
      )}
    </Card>
  );
}

/** Sends the events of some days again. */
function ReplayDialog({ endpointId }: { readonly endpointId: string }) {
  const today = new Date().toISOString().slice(0, 10);
  return (
    <FormDialog
      title="Replay events"
      submit="Replay"
      cancel="Close"
      start={{ startDate: today, endDate: today, state: 'failed' as 'failed' | '' }}
      action={replay(endpointId)}
      input={({ state, ...days }) => ({ ...days, ...(state && { state }) })}
      fields={() => [
        [
          {
            ...{ name: 'startDate', label: 'From', as: 'date' },
            ...{ description: 'Days in UTC', required: true },
          },
          {
            ...{ name: 'endDate', label: 'To', as: 'date' },
            ...{ description: 'Inclusive', required: true },
          },
        ],
        {
          name: 'state',
          label: 'Deliveries',
          options: [
            { value: 'failed', label: 'Failed ones' },
            { value: '', label: 'All except pending' },
          ],
        },
      ]}
      outcome={(count) => `${count.toLocaleString()} deliveries are sent again.`}
    />
  );
}

const tones = { pending: 'running', delivered: 'good', failed: 'bad' } as const;

const columns: readonly Column<Delivery>[] = [
  { header: 'Time', cell: ({ request }) => <Time at={request.timestamp} relative /> },
  {
    header: 'Event',
    cell: ({ type, eventId }) => (
      <>
        <div>{type}</div>
        <code className="code wide-text">{eventId}</code>
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <StateBadge tone={tones[state]} text={state} /> },
  {
    header: 'Last answer',
    hideBelow: 'md',
    cell: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error ?? '–',
  },
];
