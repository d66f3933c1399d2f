import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTestProvider } from '../../data/workspace/providers.ts';
import { Dialog, DialogCloseButton } from '../../kit/dialog.tsx';
import { CodeBlock } from '../code/code-block.tsx';
import { ModelInput } from '../fields/model-input.tsx';
import { FormError } from '../states/form-error.tsx';
import { StateBadge } from '../states/state-badge.tsx';
import classes from './test-provider.module.css';

/** Sends one small real call to a model, and shows the request and the answer. Nothing is stored. */
export function TryModel({
  name,
  onClose,
}: {
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [model, setModel] = useState('');
  const test = useTestProvider();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.mutate({ name, model: model.trim() });
  };
  return (
    <Dialog
      title={`Call a model of ${name}`}
      width="medium"
      locked={test.isPending}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <ModelInput
            provider={name}
            description="Gets “Reply with OK.” The provider may charge for the call."
            required
            value={model}
            onChange={setModel}
          />
          <div role="status">{test.data && <Tried tried={test.data} />}</div>
          <FormError error={test.error} />
          <Group justify="flex-end" gap="xs">
            <DialogCloseButton>Close</DialogCloseButton>
            <Button type="submit" loading={test.isPending}>
              Send
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function Tried({
  tried,
}: {
  readonly tried: NonNullable<ReturnType<typeof useTestProvider>['data']>;
}) {
  const { ok, latencyMs, error, request, answer } = tried;
  return (
    <Stack gap="xs">
      <StateBadge
        tone={ok ? 'good' : 'bad'}
        text={ok ? `Answered in ${latencyMs} ms` : (error?.code ?? 'Failed')}
      />
      {error && (
        <p className={classes.text} dir="auto">
          {error.message}
        </p>
      )}
      {request && <CodeBlock label="Request" code={JSON.stringify(request, null, 2)} />}
      {answer && <CodeBlock label="Answer" code={JSON.stringify(answer, null, 2)} />}
    </Stack>
  );
}
