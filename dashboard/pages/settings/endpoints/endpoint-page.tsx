import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { EventEndpoint } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { ping, rotate } from '../../../data/workspace/endpoint-actions.ts';
import { endpoints } from '../../../data/workspace/endpoints.ts';
import { ConfirmDialog, SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { useAction } from '../../../kit/resource.ts';
import { RotateDialog } from '../../../kit/rotate-dialog.tsx';
import { Deliveries } from './deliveries.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { EndpointSecret } from './endpoint-secret.tsx';

const route = getRouteApi('/app/settings/endpoints/$endpointId');

/** One endpoint: its settings, health and delivery log. */
export function EndpointPage() {
  const { endpointId } = route.useParams();
  const endpoint = useQuery(endpoints.get(endpointId));
  if (endpoint.isError && !endpoint.data) {
    return <ErrorState error={endpoint.error} onRetry={() => void endpoint.refetch()} />;
  }
  return (
    <>
      <Link to="/settings/endpoints" className="note">
        All endpoints
      </Link>
      {endpoint.data && <EndpointCard endpoint={endpoint.data} />}
      <Deliveries endpointId={endpointId} enabled={endpoint.data?.enabled ?? false} />
    </>
  );
}

function EndpointCard({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { url, eventTypes, description, format, payload, lastSuccessAt, pending } = endpoint;
  const json = payload === 'full' ? 'JSON with variables and output' : 'JSON';
  const code = (text: string) => <code className="code">{text}</code>;
  return (
    <Card title={url === null ? 'Pull endpoint' : 'Endpoint'}>
      <DescriptionList
        items={[
          ['URL', code(url ?? 'read by GET /api/v1/events')],
          ['Health', <EndpointHealth key="health" endpoint={endpoint} />],
          ['Last success', lastSuccessAt ? <Time key="at" at={lastSuccessAt} relative /> : '–'],
          ['Pending', pending.toLocaleString()],
          ['Events', code(eventTypes.join(', '))],
          ['Sent as', format === 'slack' ? 'Slack message' : json],
          ...(description ? ([['Description', description]] as const) : []),
        ]}
      />
      <EndpointActions endpoint={endpoint} />
    </Card>
  );
}

function EndpointActions({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { endpointId, enabled, url } = endpoint;
  const send = useAction(ping(endpointId));
  const change = useAction(endpoints.update(endpointId));
  return (
    <>
      <Group gap="xs" mt="md">
        {enabled && url !== null && (
          <SmallButton
            label="Send ping"
            variant="filled"
            loading={send.isPending}
            onClick={() => send.mutate()}
          />
        )}
        <SmallButton
          label={enabled ? 'Disable' : 'Enable'}
          variant={enabled ? 'default' : 'filled'}
          loading={change.isPending}
          onClick={() => change.mutate({ enabled: !enabled })}
        />
        <SmallButton
          label="Edit"
          onClick={() => openDialog(<EndpointForm endpoint={endpoint} />)}
        />
        <SmallButton
          label="Rotate secret"
          onClick={() => openDialog(<RotateEndpoint endpointId={endpointId} />)}
        />
        <SmallButton
          label="Delete"
          c="var(--bad)"
          onClick={() => openDialog(<DeleteEndpoint endpointId={endpointId} />)}
        />
      </Group>
      <FormError error={send.error ?? change.error} />
    </>
  );
}

function RotateEndpoint({ endpointId }: { readonly endpointId: string }) {
  return (
    <RotateDialog
      title="Rotate secret"
      intro="Creates a new secret. During the grace period both secrets sign each event."
      withoutGrace="only the new secret signs"
      action={rotate(endpointId)}
      done={(secret) => <EndpointSecret secret={secret} />}
    />
  );
}

function DeleteEndpoint({ endpointId }: { readonly endpointId: string }) {
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title="Delete this endpoint?"
      confirm="Delete"
      action={endpoints.remove(endpointId)}
      onDone={() => void navigate({ to: '/settings/endpoints' })}
    >
      It receives nothing more, and its delivery log is deleted. This cannot be undone.
    </ConfirmDialog>
  );
}
