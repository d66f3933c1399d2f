import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { useCreateWebhook } from '../../../data/workflows/triggers.ts';
import { WebhookSecret } from './webhook-secret.tsx';

export function NewWebhook(props: { readonly workflowId: string; readonly onClose: () => void }) {
  const { workflowId, onClose } = props;
  const [name, setName] = useState('');
  const create = useCreateWebhook(workflowId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name);
  };
  if (create.data) return <WebhookSecret issued={create.data} onClose={onClose} />;
  return (
    <Dialog locked={create.isPending} onClose={onClose} title="New webhook">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label="Name"
            description="The source of the events"
            required
            withAsterisk={false}
            maxLength={200}
            data-autofocus
            value={name}
            error={fieldError(create.error, 'name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <FormError error={create.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Create webhook
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
