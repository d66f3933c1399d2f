import { Button, Group, Stack } from '@mantine/core';
import type { Delivery } from '../../../../src/client/index.ts';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Dialog, DialogCloseButton } from '../../../components/dialogs/dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useResend } from '../../../data/workspace/endpoints.ts';
import classes from '../settings.module.css';

/** What was sent, what the receiver answered, and a button to send it again. */
export function DeliveryDialog(props: {
  readonly endpointId: string;
  readonly delivery: Delivery;
  readonly canResend: boolean;
  readonly onClose: () => void;
}) {
  const { endpointId, delivery, canResend, onClose } = props;
  const { eventId, type, request, attempts, nextAttemptAt } = delivery;
  const resend = useResend(endpointId);
  return (
    <Dialog title={type} size="lg" locked={resend.isPending} onClose={onClose}>
      <Stack gap="md">
        <CodeBlock label={`Request ${eventId}`} code={JSON.stringify(request, null, 2)} />
        {attempts.length === 0 && <p className={classes.muted}>No attempt yet.</p>}
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
          <p className={classes.muted}>
            Next attempt: <Time at={nextAttemptAt} />
          </p>
        )}
        <FormError error={resend.error} />
        <Group justify="flex-end" gap="xs">
          <DialogCloseButton>Close</DialogCloseButton>
          <Button
            disabled={!canResend}
            loading={resend.isPending}
            onClick={() => resend.mutate(eventId)}
          >
            Resend
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
