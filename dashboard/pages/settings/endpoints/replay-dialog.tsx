import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogCloseButton } from '../../../components/dialogs/dialog.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { useReplay } from '../../../data/workspace/endpoints.ts';

/** Sends the events of some days again. */
export function ReplayDialog(props: { readonly endpointId: string; readonly onClose: () => void }) {
  const { endpointId, onClose } = props;
  const today = new Date().toISOString().slice(0, 10);
  const [startDate, setStartDate] = useState(today);
  const [endDate, setEndDate] = useState(today);
  const [state, setState] = useState<'failed' | ''>('failed');
  const replay = useReplay(endpointId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replay.mutate({ startDate, endDate, ...(state && { state }) });
  };
  return (
    <Dialog title="Replay events" locked={replay.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <Group grow align="flex-start">
            <TextInput
              type="date"
              label="From"
              description="Days in UTC"
              required
              withAsterisk={false}
              value={startDate}
              error={fieldError(replay.error, 'startDate')}
              onChange={({ currentTarget }) => setStartDate(currentTarget.value)}
            />
            <TextInput
              type="date"
              label="To"
              description="Inclusive"
              required
              withAsterisk={false}
              value={endDate}
              error={fieldError(replay.error, 'endDate')}
              onChange={({ currentTarget }) => setEndDate(currentTarget.value)}
            />
          </Group>
          <NativeSelect
            label="Deliveries"
            data={[
              { value: 'failed', label: 'Failed ones' },
              { value: '', label: 'All except pending' },
            ]}
            value={state}
            onChange={({ currentTarget }) => setState(currentTarget.value as 'failed' | '')}
          />
          <FormError error={replay.error} />
          {replay.data !== undefined && (
            <p role="status">{replay.data.toLocaleString()} deliveries are sent again.</p>
          )}
          <Group justify="flex-end" gap="xs">
            <DialogCloseButton>Close</DialogCloseButton>
            <Button type="submit" loading={replay.isPending}>
              Replay
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
