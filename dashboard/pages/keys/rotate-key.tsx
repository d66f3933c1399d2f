import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { Dialog, LeaveButton } from '../../components/dialogs/dialog.tsx';
import { FormProblem } from '../../components/form-error.tsx';
import { useRotateKey } from '../../data/workspace/keys.ts';
import { IssuedKey } from './issued-key.tsx';

const graces = [
  { value: '0', label: 'None: the old key stops at once' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
];

/** A new secret in place of the old one, which still works for a while. */
export function RotateKey(props: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { apiKey, onClose } = props;
  const [grace, setGrace] = useState('86400');
  const rotate = useRotateKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate({ apiKeyId: apiKey.apiKeyId, graceSeconds: Number(grace) });
  };
  if (rotate.data) {
    return (
      <Dialog title={`The key ${rotate.data.name}`} size="lg" locked onClose={onClose}>
        <IssuedKey issued={rotate.data} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`Rotate ${apiKey.name}`} locked={rotate.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            Issues a key with the same name, agents, permissions and limits. The old one stops when
            the grace is over.
          </p>
          <NativeSelect
            label="Grace"
            data={graces}
            value={grace}
            onChange={({ currentTarget }) => setGrace(currentTarget.value)}
          />
          <FormProblem error={rotate.error} />
          <Group justify="flex-end" gap="xs">
            <LeaveButton>Keep as it is</LeaveButton>
            <Button type="submit" loading={rotate.isPending}>
              Rotate
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
