import { Button, Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Delivery } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { EmptyState } from '../../../components/states/empty-state.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { deliveriesQuery } from '../../../data/workspace/endpoints.ts';
import classes from '../settings.module.css';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';

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
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [dialog, setDialog] = useState<Delivery | 'replay' | null>(null);
  const cursor = cursors.at(-1);
  const filters = { ...(state && { state }), ...(cursor !== undefined && { cursor }) };
  const page = useQuery(deliveriesQuery(endpointId, filters));
  const shown = dialog === null || dialog === 'replay' ? null : dialog;
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
          <Button
            size="xs"
            variant="default"
            disabled={!enabled}
            onClick={() => setDialog('replay')}
          >
            Replay…
          </Button>
        </Group>
      }
    >
      {page.isError && !page.data ? (
        <ErrorState error={page.error} onRetry={() => void page.refetch()} />
      ) : page.data?.deliveries.length === 0 ? (
        <EmptyState icon="history" title="No deliveries">
          Events that are sent to this endpoint appear here for 30 days.
        </EmptyState>
      ) : (
        <DataTable
          caption="Deliveries"
          columns={columnsOf(setDialog)}
          rows={page.data?.deliveries}
          rowKey={({ eventId }) => eventId}
          stale={page.isPlaceholderData}
          loadingRows={5}
        />
      )}
      <CursorPager cursors={cursors} next={page.data?.nextCursor} onChange={setCursors} />
      {shown && (
        <DeliveryDialog
          endpointId={endpointId}
          delivery={page.data?.deliveries.find(({ eventId }) => eventId === shown.eventId) ?? shown}
          canResend={enabled}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'replay' && (
        <ReplayDialog endpointId={endpointId} onClose={() => setDialog(null)} />
      )}
    </Card>
  );
}

function CursorPager(props: {
  /** The cursors of the pages after the first one, up to the current one. */
  readonly cursors: readonly string[];
  readonly next: string | undefined;
  readonly onChange: (cursors: readonly string[]) => void;
}) {
  const { cursors, next, onChange } = props;
  if (cursors.length === 0 && next === undefined) return null;
  return (
    <Group gap="xs" mt="md" justify="flex-end">
      <Button
        size="xs"
        variant="default"
        disabled={cursors.length === 0}
        onClick={() => onChange(cursors.slice(0, -1))}
      >
        Newer
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next === undefined}
        onClick={() => next !== undefined && onChange([...cursors, next])}
      >
        Older
      </Button>
    </Group>
  );
}

const tones = { pending: 'running', delivered: 'good', failed: 'bad' } as const;

function columnsOf(open: (delivery: Delivery) => void): readonly Column<Delivery>[] {
  return [
    {
      key: 'at',
      header: 'Time',
      cell: ({ request }) => <Time at={request.timestamp} relative />,
    },
    {
      key: 'type',
      header: 'Event',
      cell: ({ type, eventId }) => (
        <>
          <div>{type}</div>
          <code className={`${classes.code} ${classes.subject}`}>{eventId}</code>
        </>
      ),
    },
    {
      key: 'state',
      header: 'State',
      cell: ({ state }) => <StateBadge tone={tones[state]} text={state} />,
    },
    {
      key: 'answer',
      header: 'Last answer',
      hideBelow: 'md',
      cell: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error ?? '–',
    },
    {
      key: 'actions',
      header: 'Actions',
      align: 'right',
      sticky: true,
      cell: (delivery) => (
        <Button
          size="xs"
          variant="default"
          aria-label={`Details of ${delivery.eventId}`}
          onClick={() => open(delivery)}
        >
          Details
        </Button>
      ),
    },
  ];
}
