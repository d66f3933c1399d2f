import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { EventEndpoint } from '../../../../src/client/index.ts';
import { FormError } from '../../../components/states/form-error.tsx';
import { ping } from '../../../data/workspace/endpoint-actions.ts';
import { endpoints } from '../../../data/workspace/endpoints.ts';
import { members } from '../../../data/workspace/members.ts';
import { signInOptionsQuery } from '../../../data/workspace/session-user.ts';
import { SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { useAction } from '../../../kit/resource.ts';
import { EndpointForm } from '../endpoints/endpoint-form.tsx';
import type { EventType } from '../endpoints/event-groups.ts';

/** Who is notified: the endpoints that subscribe, and of alerts the owners where the server sends e-mail. */
export function Recipients(props: {
  readonly of: 'alerts' | 'budgets';
  /** An endpoint is notified if it subscribes to the first one; a new one gets all. */
  readonly eventTypes: EventType[];
}) {
  const { of, eventTypes } = props;
  const all = useQuery(endpoints.list()).data;
  const people = useQuery(members.list()).data;
  const options = useQuery(signInOptionsQuery).data;
  if (!all || !people || !options) return <Stack mih="5.5rem" aria-busy />;
  const [notified] = eventTypes;
  const subscribed = all.filter(
    (one) => one.enabled && one.eventTypes.some((type) => type === notified),
  );
  const mails = of === 'alerts' && options.passwordReset;
  const owners = mails ? people.filter(({ role }) => role === 'owner') : [];
  const isNobody = subscribed.length === 0 && owners.length === 0;
  return (
    <Stack component="section" gap="xs" aria-label="Who is notified">
      <h3 className="section-title">Who is notified</h3>
      {isNobody ? (
        <p className="bad-note" role="status">
          Nobody. No endpoint subscribes to {of}
          {of === 'alerts' ? ', and this server sends no e-mail.' : '.'}
        </p>
      ) : (
        <ul className="stack-small" style={{ gap: '0.25rem', margin: 0, paddingLeft: '1.125rem' }}>
          {subscribed.map(({ endpointId, url, description }) => (
            <li key={endpointId} className="wrap" dir="auto">
              {description ?? <code className="code">{url ?? 'Pull endpoint'}</code>}
            </li>
          ))}
          {owners.map(({ userId, email }) => (
            <li key={userId} className="wrap">
              {email} <span className="soft">(owner)</span>
            </li>
          ))}
        </ul>
      )}
      <Group gap="xs">
        <SmallButton
          label="Add an endpoint"
          onClick={() => openDialog(<EndpointForm endpoint={null} eventTypes={eventTypes} />)}
        />
        <SendTest to={subscribed.filter(({ url }) => url !== null)} />
      </Group>
    </Stack>
  );
}

/** A pull endpoint reads its events itself: there is nothing to send to. */
function SendTest({ to }: { readonly to: readonly EventEndpoint[] }) {
  const send = useAction(pingAll(to.map(({ endpointId }) => endpointId)));
  if (to.length === 0) return null;
  return (
    <>
      <SmallButton label="Send a test" loading={send.isPending} onClick={() => send.mutate()} />
      <FormError error={send.error} />
    </>
  );
}

const pingAll = (endpointIds: readonly string[]) =>
  endpoints.action<void, void>(async () => {
    await Promise.all(endpointIds.map((endpointId) => ping(endpointId).run()));
  }, 'Test sent');
