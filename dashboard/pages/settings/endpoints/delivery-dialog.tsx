import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Delivery, DeliveryFilters } from '../../../../src/client/index.ts';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { deliveriesQuery, resend } from '../../../data/workspace/endpoint-actions.ts';
import { Dialog, DialogCloseButton } from '../../../kit/dialog.tsx';
import { useAction } from '../../../kit/resource.ts';

/** What was sent, what the receiver answered, and a button to send it again. */
export function DeliveryDialog(props: {
  readonly endpointId: string;
  /** Of the page of the log that has the delivery. */
  readonly filters: DeliveryFilters;
  readonly delivery: Delivery;
  readonly canResend: boolean;
}) {
  const { endpointId, canResend } = props;
  const { eventId } = props.delivery;
  // Follows the attempts.
  const { data: page } = useQuery(deliveriesQuery(endpointId, props.filters));
  const delivery = page?.deliveries.find((one) => one.eventId === eventId) ?? props.delivery;
  const { type, request, attempts, nextAttemptAt } = delivery;
  const again = useAction(resend(endpointId, eventId));
  return (
    <Dialog title={type} width="medium" locked={again.isPending}>
      <Stack gap="md">
        <CodeBlock label={`Request ${eventId}`} code={JSON.stringify(request, null, 2)} />
        {attempts.length === 0 && <p className="note">No attempt yet.</p>}
        {attempts.toReversed().map(({ at, status, answer, error }, index) => (
          <div key={`${at} ${attempts.length - index}`}>
            <p>
              <Time at={at} />: {status ?? 'no answer'}
              {error !== null && status === null && `, ${error}`}
            </p>
            {answer && <CodeBlock label={`Answer ${status}`} code={answer} />}
          </div>
        ))}
        {nextAttemptAt !== null && (
          <p className="note">
            Next attempt: <Time at={nextAttemptAt} />
          </p>
        )}
        <FormError error={again.error} />
        <Group justify="flex-end" gap="xs">
          <DialogCloseButton>Close</DialogCloseButton>
          <Button disabled={!canResend} loading={again.isPending} onClick={() => again.mutate()}>
            Resend
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
