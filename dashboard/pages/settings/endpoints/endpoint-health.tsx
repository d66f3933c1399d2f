import type { EventEndpoint } from '../../../../src/client/index.ts';
import { StateBadge } from '../../../components/states/state-badge.tsx';

/** Whether an endpoint works, as one word; the reason if it was disabled. */
export function EndpointHealth({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { enabled, disabledBecause, failingSince, lastSuccessAt, url } = endpoint;
  if (!enabled)
    return (
      <StateBadge
        tone={disabledBecause === 'owner' ? 'calm' : 'bad'}
        text={disabledTexts[disabledBecause ?? 'owner']}
      />
    );
  if (failingSince !== null) return <StateBadge tone="warn" text="Failing" />;
  if (lastSuccessAt !== null) return <StateBadge tone="good" text="Healthy" />;
  return <StateBadge tone="plain" text={url === null ? 'Pull' : 'Nothing sent yet'} />;
}

export const disabledTexts: Readonly<
  Record<NonNullable<EventEndpoint['disabledBecause']>, string>
> = {
  owner: 'Disabled',
  gone: 'Disabled: answered 410',
  failing: 'Disabled: five days without success',
  key_ended: 'Disabled: its key ended',
};
