import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { EventEndpoint } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import {
  endpointQuery,
  useChangeEndpoint,
  useDeleteEndpoint,
  useTestEndpoint,
} from '../../../data/workspace/endpoints.ts';
import classes from '../settings.module.css';
import { Deliveries } from './deliveries.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { RotateEndpoint } from './rotate-endpoint.tsx';

const route = getRouteApi('/app/settings/endpoints/$endpointId');

/** One endpoint: its settings, health and delivery log. */
export function EndpointPage() {
  const { endpointId } = route.useParams();
  const endpoint = useQuery(endpointQuery(endpointId));
  if (endpoint.isError && !endpoint.data) {
    return <ErrorState error={endpoint.error} onRetry={() => void endpoint.refetch()} />;
  }
  return (
    <>
      <Link to="/settings/endpoints" className={classes.muted}>
        All endpoints
      </Link>
      {endpoint.data && <EndpointCard endpoint={endpoint.data} />}
      <Deliveries endpointId={endpointId} enabled={endpoint.data?.enabled ?? false} />
    </>
  );
}

function EndpointCard({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { endpointId, url, eventTypes, description, format, payload } = endpoint;
  return (
    <Card title={url === null ? 'Pull endpoint' : 'Endpoint'}>
      <div className={classes.items}>
        <DescriptionList
          items={[
            [
              'URL',
              <code key="url" className={classes.code}>
                {url ?? 'read by GET /api/v1/events'}
              </code>,
            ],
            ['Health', <EndpointHealth key="health" endpoint={endpoint} />],
            [
              'Last success',
              endpoint.lastSuccessAt ? <Time key="at" at={endpoint.lastSuccessAt} relative /> : '–',
            ],
            ['Pending', endpoint.pending.toLocaleString()],
            [
              'Events',
              <span key="events" className={classes.code}>
                {eventTypes.join(', ')}
              </span>,
            ],
            [
              'Sent as',
              format === 'slack'
                ? 'Slack message'
                : payload === 'full'
                  ? 'JSON with variables and output'
                  : 'JSON',
            ],
            ...(description ? ([['Description', description]] as const) : []),
          ]}
        />
      </div>
      <EndpointActions key={endpointId} endpoint={endpoint} />
    </Card>
  );
}

function EndpointActions({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { endpointId, enabled, url } = endpoint;
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete' | null>(null);
  const navigate = useNavigate();
  const ping = useTestEndpoint(endpointId);
  const change = useChangeEndpoint(endpointId);
  const remove = useDeleteEndpoint();
  const close = () => setDialog(null);
  return (
    <>
      <Group gap="xs" mt="md">
        {enabled && url !== null && (
          <Button size="xs" loading={ping.isPending} onClick={() => ping.mutate(undefined)}>
            Send ping
          </Button>
        )}
        <Button
          size="xs"
          variant={enabled ? 'default' : 'filled'}
          loading={change.isPending}
          onClick={() => change.mutate({ enabled: !enabled })}
        >
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
          Edit
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret
        </Button>
        <Button size="xs" variant="default" c="var(--bad)" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      <FormError error={ping.error ?? change.error} />
      {dialog === 'edit' && <EndpointForm endpoint={endpoint} onClose={close} />}
      {dialog === 'rotate' && <RotateEndpoint endpointId={endpointId} onClose={close} />}
      <ConfirmDialog
        opened={dialog === 'delete'}
        title="Delete this endpoint?"
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() =>
          remove.mutate(endpointId, {
            onSuccess: () => void navigate({ to: '/settings/endpoints' }),
          })
        }
      >
        It receives nothing more, and its delivery log is deleted. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
