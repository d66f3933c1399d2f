import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { Dialog, DialogCloseButton } from '../../components/dialogs/dialog.tsx';
import { FormError } from '../../components/form-error.tsx';
import { useRotateKey } from '../../data/workspace/keys.ts';
import { IssuedKey } from './issued-key.tsx';

const gracePeriods = [
  { value: '0', label: 'None: the old key stops working immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

/** Replaces a key; the old one keeps working for a grace period. */
export function RotateKey(props: {
  readonly apiKey: ApiKey;
  readonly onIssued: ((key: string) => void) | undefined;
  readonly onClose: () => void;
}) {
  const { apiKey, onClose } = props;
  const [grace, setGrace] = useState('86400');
  const rotate = useRotateKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate(
      { apiKeyId: apiKey.apiKeyId, graceSeconds: Number(grace) },
      { onSuccess: ({ key }) => props.onIssued?.(key) },
    );
  };
  if (rotate.data) {
    return (
      <Dialog title={`API key ${rotate.data.name}`} size="lg" locked onClose={onClose}>
        <IssuedKey issued={rotate.data} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`Rotate ${apiKey.name}`} locked={rotate.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            Creates a key with the same name, agents, permissions and limits. The old key stops
            working after the grace period.
          </p>
          <NativeSelect
            label="Grace period"
            data={gracePeriods}
            value={grace}
            onChange={({ currentTarget }) => setGrace(currentTarget.value)}
          />
          <FormError error={rotate.error} />
          <Group justify="flex-end" gap="xs">
            <DialogCloseButton>Cancel</DialogCloseButton>
            <Button type="submit" loading={rotate.isPending}>
              Rotate
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
